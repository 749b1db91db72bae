"""What was loaded, what was left out, and why?"""

from calib_core.wording import count
from pages.parts import inventory, ledger, show, uploading
from pages.parts.shell import shell

here = shell("files")
uploading.uploader(here.files)
if not here.files:
    ledger.nothing_here()
loaded = {file for run in here.runs for file in run.parts}
show.looking(
    f"{count(len(here.files), 'file')}, {len(loaded)} loaded, {count(len(here.runs), 'run')}. "
    "The folder is only read, never written to."
)
shown = inventory.summary(here.files, loaded)
if len(shown) == len(here.files):
    ledger.wholes(here.runs)
opened = inventory.opened(shown, loaded, here.files)
for file, key in shown.items():
    ledger.one_file(file, key, here.files, here.good, open_=file in opened)
