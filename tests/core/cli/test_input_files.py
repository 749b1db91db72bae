"""Which files a path stands for, and names that distinguish them."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from calib_core.cli.input_files import InputFiles, display_names, files_of_path, skipped_reasons
from calib_core.errors import Refused
from core.cli_calls import GOOD, write


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("conf", "confidence"),
        ("a=b", "correct"),
        ("c=d", ""),
        ("a=b", "confidence.x/100:inverted"),
        ("a=b:c/d", "confidence:high=0.9|so = so=0.5"),
        ("a=b", "nothing known"),
        ("a", "nothing:x=0.9"),
        ("=", "choice_masses"),
    ],
)
def test_the_name_begins_at_the_equals_sign_before_it(column: str, name: str) -> None:
    source = InputFiles.from_options(column_mappings=[f"{column}={name}"], wide=[f"*{column}={name}"])
    assert source.options.columns == {column: name}
    assert source.options.wide == {f"*{column}": name}


@pytest.mark.parametrize("text", ["", "=", "conf", "=confidence"])
def test_anything_else_is_not_a_mapping(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="expected COLUMN=NAME"):
        InputFiles.from_options(column_mappings=[text])


@pytest.mark.parametrize("name", ["p_true", "confidence", ""])
def test_a_column_is_named_once(name: str) -> None:
    with pytest.raises(typer.BadParameter, match="expected each column once, found 'conf' twice"):
        InputFiles.from_options(column_mappings=["conf=confidence", f"conf={name}"])


def test_a_file_means_itself_even_if_it_is_not_there(tmp_path: Path) -> None:
    assert files_of_path(tmp_path / "gone.csv") == {tmp_path / "gone.csv": 1}
    assert list(files_of_path(Path("n" * 5000))) == [Path("n" * 5000)]


def test_a_folder_means_what_is_in_it(tmp_path: Path) -> None:
    first, second = write(tmp_path, "a.csv", GOOD), write(tmp_path, "more/b.csv", GOOD)
    assert files_of_path(tmp_path) == {first: 1, second: 2}


def test_skipped_files_of_a_folder_are_reported(tmp_path: Path) -> None:
    inside = write(tmp_path, "in/a.csv", GOOD).parent
    (inside / "link.csv").symlink_to(write(tmp_path, "out.csv", GOOD))
    (why,) = skipped_reasons(inside)
    assert why.startswith("link.csv leads out of the folder")
    assert skipped_reasons(inside / "a.csv") == skipped_reasons(tmp_path / "gone") == ()


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "README.md", "nothing")
    with pytest.raises(Refused, match=f"^{tmp_path.name}: no prediction file in this folder"):
        files_of_path(tmp_path)


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ({"a.csv": 1, "b.csv": 1}, ["a.csv", "b.csv"]),
        ({"one/a.csv": 1, "two/a.csv": 1}, ["one/a.csv", "two/a.csv"]),
        ({"x/one/a.csv": 1, "y/one/a.csv": 1, "b.csv": 1}, ["x/one/a.csv", "y/one/a.csv", "b.csv"]),
        ({"data/more/a.csv": 2, "a.csv": 1}, ["more/a.csv", "a.csv"]),
        ({"a.csv": 1, "one/a.csv": 1}, ["a.csv", "one/a.csv"]),
    ],
)
def test_names_are_as_long_as_they_need_to_be(parts: dict[str, int], names: list[str]) -> None:
    named = display_names({Path(path): number for path, number in parts.items()})
    assert list(named.values()) == names


def test_a_reading_has_the_display_name(tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", GOOD)
    source = InputFiles((path,))
    assert source.read(path, "data/quiz.csv").file == "data/quiz.csv"
