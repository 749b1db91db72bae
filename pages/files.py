"""What was loaded, what was left out, and why?"""

from calib_core.wording import plural
from pages.parts import inventory, ledger, show, uploading
from pages.parts.shell import shell

here = shell("files")
uploading.show_uploader(here.files)
if not here.files:
    ledger.stop_on_empty_folder()
loaded = {file for run in here.runs for file in run.part_files}
show.show_view_caption(
    f"{plural(len(here.files), 'file')}, {len(loaded)} loaded, {plural(len(here.runs), 'run')}. "
    "The folder is only read, never written to."
)
shown = inventory.show_file_table(here.files, loaded)
if len(shown) == len(here.files):
    ledger.show_merged_runs(here.runs)
opened = inventory.open_files(shown, loaded, here.files)
for file, key in shown.items():
    ledger.show_file(file, key, here.files, here.accepted_file_ids, expanded=file in opened)
