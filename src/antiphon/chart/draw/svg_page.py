"""The page of an SVG picture: its colours, light and dark, its fonts, and the sizes of their characters."""

from collections.abc import Iterable

from antiphon.chart.draw.xml_text import escape

CHARACTER = 6.7
TITLE_CHARACTER = 8.2
LINE = 17.0
PADDING = 10.0
COLOURS = 8
STYLE = """
.page{fill:#fff}.box{fill:#fff;stroke:#444}.outer{fill:#f6f7f9;stroke:#777}.region{stroke-dasharray:5 3}
.active{fill:#dff3e2}.active,.around{stroke:#1d7a35;stroke-width:2.5}.final{fill:none;stroke:#444}
.title{font:600 13px DejaVu Sans,Verdana,sans-serif;fill:#111}
.row{font:11px DejaVu Sans Mono,Menlo,monospace;fill:#222}.stays{fill:#666}.to{font-weight:600}
.line{fill:none;stroke-width:1.3}.label{fill:#f6f7f9;opacity:.85}
.added{stroke:#1d7a35;stroke-width:2.5}.removed{stroke:#b3261e;stroke-dasharray:4 3}
.row.added{fill:#1d7a35;stroke:none}.row.removed{fill:#b3261e;stroke:none;text-decoration:line-through}
.c0{stroke:#0b6e99}.c1{stroke:#9a4a00}.c2{stroke:#5b3fa0}.c3{stroke:#00734f}
.c4{stroke:#a1255b}.c5{stroke:#5a5f00}.c6{stroke:#7a3b2e}.c7{stroke:#2f4fa8}
.f0{fill:#0b6e99}.f1{fill:#9a4a00}.f2{fill:#5b3fa0}.f3{fill:#00734f}
.f4{fill:#a1255b}.f5{fill:#5a5f00}.f6{fill:#7a3b2e}.f7{fill:#2f4fa8}
@media (prefers-color-scheme:dark){
.page{fill:#15181c}.box{fill:#1d2127;stroke:#9aa4b0}.outer{fill:#191c21;stroke:#77808b}
.active{fill:#1d3a26}.active,.around{stroke:#5fce7e}.final{stroke:#9aa4b0}.title{fill:#f1f3f5}.row{fill:#d5dae0}.stays{fill:#98a1ac}
.c0{stroke:#5cc2ee}.c1{stroke:#f0a25c}.c2{stroke:#b7a0f5}.c3{stroke:#4fd0a3}
.c4{stroke:#f283b3}.c5{stroke:#cdd35a}.c6{stroke:#e29a86}.c7{stroke:#93adf7}
.f0{fill:#5cc2ee}.f1{fill:#f0a25c}.f2{fill:#b7a0f5}.f3{fill:#4fd0a3}
.f4{fill:#f283b3}.f5{fill:#cdd35a}.f6{fill:#e29a86}.f7{fill:#93adf7}
.label{fill:#191c21}
.added{stroke:#5fce7e}.removed{stroke:#ff8a80}.row.added{fill:#5fce7e}.row.removed{fill:#ff8a80}}
"""


def svg_page(title: str, width: float, height: float, parts: Iterable[str]) -> str:
    """Return a picture as a document."""
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{width:.0f}" height="{height:.0f}"/>',
    ]
    return "\n".join([*head, *parts, "</svg>"]) + "\n"
