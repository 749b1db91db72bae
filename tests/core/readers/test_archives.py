"""Archives that are not what they claim are refused, and nothing in them is trusted."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import pytest

from calib_core.errors import Refused
from calib_core.readers import archives
from core.readers.token.array_files import zipped


def list_arrays(path: Path) -> list[str]:
    with path.open("rb") as stream, archives.open_archive(stream, path.name) as archive:
        return list(archives.npy_members(archive, path.name))


def test_arrays_by_name_and_nothing_else(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.npz", {"probs.npy": b"1", "readme.txt": b"2", "a/b.npy": b"3"})
    assert list_arrays(path) == ["probs", "a/b"]


@pytest.mark.parametrize("name", ["../x.npy", "/x.npy", "a/../../x.npy", "..\\x.npy", "C:/x.npy", "\\x.npy"])
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path / "a.npz", {"probs.npy": b"1", "A" * len(name): b"2"})
    path.write_bytes(path.read_bytes().replace(b"A" * len(name), name.encode()))
    with pytest.raises(Refused, match=r"^a.npz has the member .* leads out of the archive"):
        list_arrays(path)


def test_a_name_that_is_cut_by_a_nul_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.npz", {"probsA.npy": b"1"})
    path.write_bytes(path.read_bytes().replace(b"probsA", b"probs\x00"))
    with pytest.raises(Refused, match="leads out of the archive"):
        list_arrays(path)


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.npz", {"probs.npy": b"1", "prxxs.npy": b"2"})
    path.write_bytes(path.read_bytes().replace(b"prxxs", b"probs"))
    with pytest.raises(Refused, match=r"two members named 'probs.npy', so it is unclear which one is meant"):
        list_arrays(path)


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.npz", {"probs.npy": b"1"})
    data = bytearray(path.read_bytes())
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(Refused, match=r"its member 'probs.npy' is encrypted"):
        list_arrays(path)


def test_too_many_members_are_refused_before_they_are_listed(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.npz", {f"{number}.npy": b"" for number in range(1001)})
    with pytest.raises(Refused, match=r"archive of 1,001 members, but at most 1,000"):
        list_arrays(path)


@pytest.mark.parametrize("cut", [10, 60, -10])
def test_a_cut_archive_is_refused(tmp_path: Path, cut: int) -> None:
    path = zipped(tmp_path / "a.npz", {"probs.npy": b"1" * 100})
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(Refused, match=r"^a.npz is an archive that cannot be opened .*half written"):
        list_arrays(path)


def test_bytes_that_are_not_those_of_the_checksum_are_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.npz", {"probs.npy": b"1" * 100})
    path.write_bytes(path.read_bytes().replace(b"1" * 100, b"2" * 100))
    with pytest.raises(Refused, match=r"'probs.npy' in it cannot be unpacked .*CRC"):
        unpack_first(path)


def test_a_compression_that_is_not_known_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.npz", {"probs.npy": b"1" * 100})
    data = bytearray(path.read_bytes())
    data[8] = data[data.rfind(b"PK\x01\x02") + 10] = 99
    path.write_bytes(data)
    with pytest.raises(Refused, match=r"cannot be unpacked .*compression"):
        unpack_first(path)


def test_deflated_rubbish_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("probs.npy", bytes(range(256)) * 40)
    data = bytearray(path.read_bytes())
    data[60:90] = b"\xff" * 30
    path.write_bytes(data)
    with pytest.raises(Refused, match="cannot be unpacked"):
        unpack_first(path)


def unpack_first(path: Path) -> bytes:
    with path.open("rb") as stream, archives.open_archive(stream, path.name) as archive:
        member = archives.npy_members(archive, path.name)["probs"]
        told = archives.translate_unpack_errors("a.npz", "probs.npy")
        with archives.open_member(archive, member, "a.npz") as inside, told:
            return inside.read()


def test_a_file_without_an_end_record_counts_none() -> None:
    assert archives.count_members(io.BytesIO(b"PK\x03\x04 and nothing")) == 0


@pytest.mark.parametrize(
    ("claimed", "directory_bytes", "counted"), [(1, 3200, 20), (30, 3200, 30), (1, 2**31, 20)]
)
def test_the_members_counted_are_those_there_is_room_for(
    claimed: int, directory_bytes: int, counted: int
) -> None:
    end_record = b"PK\x05\x06" + struct.pack("<4H2IH", 0, 0, claimed, claimed, directory_bytes, 0, 0)
    assert archives.count_members(io.BytesIO(bytes(3200) + end_record)) == counted
