"""What people read: links lead somewhere, and README shows the example that is compiled."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1])
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "*/README.md")
    for page in ROOT.glob(pattern)
    if page.parts[len(ROOT.parts)] not in ("build", "dist")
)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(page):
    """GitHub's names of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Documents(unittest.TestCase):
    def test_there_are_pages(self):
        self.assertIn(ROOT / "README.md", PAGES)

    def test_relative_links_lead_somewhere(self):
        for page in PAGES:
            text = FENCE.sub("", page.read_text())
            for link in re.findall(r"\]\(([^)\s]+)\)", text):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = (page.parent / path) if path else page
                self.assertTrue(target.exists(), f"{page}: {link}")
                if anchor:
                    self.assertIn(anchor, anchors(target), f"{page}: {link}")

    def test_files_named_in_code_spans_exist(self):
        tops = {path.name for path in ROOT.iterdir()} - {"build", "dist"}
        for page in PAGES:
            text = FENCE.sub("", page.read_text())
            for name in re.findall(r"`([\w.\-/]+/[\w.\-/]*)`", text):
                if name.split("/")[0] in tops and "NAME" not in name:
                    self.assertTrue((ROOT / name).exists(), f"{page}: `{name}`")

    def test_the_readme_shows_the_example_that_is_built(self):
        example = (ROOT / "examples" / "readme.cpp").read_text().strip()
        shown = re.findall(r"^```cpp\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
        self.assertIn(example, [block.strip() for block in shown])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
