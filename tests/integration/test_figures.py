"""Figures that the guest's Python saves are on record, whichever library drew them, and judged by their data."""

import pytest

from desktop_env.evaluators.checks import figure as figures
from desktop_env.evaluators.checks.figure import Figure, Points
from desktop_env.evaluators.facts import Fact
from desktop_env.evaluators.probes.figure import figure, notebook_figures
from desktop_env.protocols import Guest, Machine

pytestmark = pytest.mark.guest
KALEIDO = "Resorting to unclean kill browser."
"""What plotly's exporter says on a busy machine."""
FOLDER = "/home/user/charts"
START = """
import matplotlib.pyplot as plt, numpy as np, pandas as pd, seaborn as sns
df = pd.DataFrame({"c": list("abc") * 4, "v": np.arange(12.0), "h": list("uw") * 6})
means = df.groupby("c").v.mean()
def fresh():
    return plt.subplots()[1]
"""
MEANS = {"a": 4.5, "b": 5.5, "c": 6.5}
BARS = {
    "matplotlib": "ax = fresh(); ax.bar(means.index, means.values); plt.savefig(path)",
    "lying": "ax = fresh(); ax.barh(means.index, means.values); plt.savefig(path)",
    "pandas": "ax = fresh(); means.plot.bar(ax=ax); ax.figure.savefig(path)",
    "seaborn": "ax = fresh(); sns.barplot(df, x='c', y='v', errorbar=None, ax=ax); plt.savefig(path)",
    "colours": "ax = fresh(); sns.barplot(df, x='c', y='v', hue='c', legend=False, ax=ax); plt.savefig(path, dpi=50)",
    "ticks": "ax = fresh(); ax.bar([0, 1, 2], means); ax.set_xticks([0, 1, 2], means.index); plt.savefig(path)",
    "buffer": "import io; ax = fresh(); ax.bar(means.index, means); b = io.BytesIO(); plt.savefig(b); "
    "open(path, 'wb').write(b.getvalue())",
    "plotly": "import plotly.express as px; px.bar(means.reset_index(), x='c', y='v').write_image(path)",
}
SERIES: dict[str, Points] = {
    "u": [("a", 3.0), ("b", 7.0), ("c", 5.0)],
    "w": [("a", 6.0), ("b", 4.0), ("c", 8.0)],
}


@pytest.fixture(scope="module")
def drawn(machine: Machine) -> Guest:
    """A guest in which every chart of `BARS` and `OTHERS` has been drawn by one program."""
    parts = [START]
    for name, code in {**BARS, **OTHERS}.items():
        suffix = "html" if "html" in code else "svg" if name == "histogram" else "png"
        parts.append(f"path = '{FOLDER}/{name}.{suffix}'\n{code}\nplt.close('all')\n")
    machine.guest.write(f"{FOLDER}/draw.py", "\n".join(parts).encode())
    result = machine.guest.run(["python", "-W", "error::UserWarning", f"{FOLDER}/draw.py"], timeout=300)
    assert result.ok, result.stderr
    assert [line for line in result.stderr.splitlines() if line != KALEIDO] == []
    return machine.guest


OTHERS = {
    "lines": "ax = fresh(); sns.lineplot(df, x='c', y='v', hue='h', errorbar=None, ax=ax); ax.set_title('By group');"
    " ax.set_xlabel('Class'); ax.set_yscale('log'); plt.savefig(path)",
    "grouped": "df.pivot_table(index='c', columns='h', values='v').plot.bar(); plt.savefig(path)",
    "facets": "sns.relplot(df, x='v', y='v', col='h').savefig(path)",
    "points": "ax = fresh(); sns.scatterplot(df, x='v', y='v', hue='h', ax=ax); plt.savefig(path)",
    "days": "s = pd.Series([1.0, 2, 3], index=pd.date_range('2020-01-01', periods=3, freq='MS')); "
    "ax = fresh(); s.plot(ax=ax); plt.savefig(path)",
    "histogram": "ax = fresh(); sns.histplot(df, x='v', bins=4, stat='density', ax=ax); plt.savefig(path)",
    "spaced": "plt.hist(df.v, bins=4, rwidth=0.8); plt.savefig(path)",
    "periods": "pd.Series([1, 2], index=pd.date_range('2020-01-01', periods=2)).plot.bar(); plt.savefig(path)",
    "boxes": "ax = fresh(); sns.boxplot(df, x='c', y='v', ax=ax); plt.savefig(path)",
    "heat": "ax = fresh(); sns.heatmap(df.pivot_table(index='c', columns='h', values='v'), ax=ax,"
    " cbar_kws={'label': 'Mean'}); plt.savefig(path)",
    "pie": "ax = fresh(); ax.pie([1, 3], labels=['a', 'b'], autopct='%.0f%%'); plt.savefig(path)",
    "errors": "ax = fresh(); ax.bar(means.index, means, yerr=[1, 2, 3], capsize=3); plt.savefig(path)",
    "errors_pandas": "means.plot.barh(xerr=[1, 2, 3]); plt.savefig(path)",
    "errors_seaborn": "ax = fresh(); sns.barplot(df, x='c', y='v', errorbar=('pi', 100), capsize=0.2, ax=ax);"
    " plt.savefig(path)",
    "page": "import plotly.express as px; f = px.bar(means.reset_index(), x='c', y='v', title='Means');"
    " f.write_html(path, include_plotlyjs='cdn')",
    "page_lines": "f = px.line(df.groupby(['h', 'c'], as_index=False).v.mean(), x='c', y='v', color='h');"
    " open(path, 'w').write(f.to_html())",
    "page_histogram": "px.histogram(df, x='v').write_html(path, include_plotlyjs=False)",
    "page_heat": "px.imshow(df.pivot_table(index='c', columns='h', values='v'), labels={'color': 'Mean'})"
    ".write_html(path, include_plotlyjs=False)",
    "page_boxes": "px.box(df, x='c', y='v').write_html(path, include_plotlyjs=False)",
}


@pytest.mark.parametrize("name", [*BARS, "page"])
def test_bars_of_every_library_show_the_same_data(drawn: Guest, name: str) -> None:
    suffix = "html" if name == "page" else "png"
    chart = figure(drawn, f"{FOLDER}/{name}.{suffix}")
    assert figures.shows("bars", chart, "bar", MEANS).passed, chart
    assert figures.shows("bars", chart, "bar", {**MEANS, "a": 4.4}).code == "wrong_data"
    assert figures.shows("bars", chart, "bar", {"a": 4.5, "b": 5.5}).code == "wrong_data"
    assert figures.kind("kind", chart, "pie").code == "wrong_kind"


@pytest.mark.parametrize("name", ["lines.png", "page_lines.html"])
def test_series_are_told_apart_by_the_legend(drawn: Guest, name: str) -> None:
    chart = figure(drawn, f"{FOLDER}/{name}")
    assert figures.series("lines", chart, "line", SERIES, ordered=True).passed, chart
    assert figures.legend("legend", chart, ["W", "u"]).passed
    swapped = {"u": SERIES["w"], "w": SERIES["u"]}
    assert figures.series("lines", chart, "line", swapped, ordered=True).code == "wrong_data"
    assert figures.series("lines", chart, "line", {"x": SERIES["u"]}).code == "series_missing"


def test_titles_labels_and_scales(drawn: Guest) -> None:
    chart = figure(drawn, f"{FOLDER}/lines.png")
    assert figures.titled("title", chart, "by  group").passed
    assert figures.axis_label("x", chart, "x", "Class").passed
    assert figures.scale("y", chart, "y", "log").passed
    assert figures.titled("title", chart, "By").code == "wrong_title"
    assert figures.axis_label("y", chart, "y", "Class").code == "wrong_label"
    assert figures.scale("x", chart, "x", "log").code == "wrong_scale"


def test_other_kinds(drawn: Guest) -> None:
    def chart(name: str) -> Fact[Figure]:
        return figure(drawn, f"{FOLDER}/{name}")

    values = [float(value) for value in range(12)]
    own = {"u": [(v, v) for v in values[::2]], "w": [(v, v) for v in values[1::2]]}
    groups = {name: values[index::3] for index, name in enumerate("abc")}
    cells = {("a", "u"): 3.0, ("a", "w"): 6.0, ("b", "u"): 7.0, ("b", "w"): 4.0, ("c", "u"): 5.0, ("c", "w"): 8.0}
    days = {"2020-01-01": 1.0, "2020-02-01": 2.0, "2020-03-01": 3.0}
    errors = {"a": (3.5, 5.5), "b": (3.5, 7.5), "c": (3.5, 9.5)}
    whole = {"a": (0.0, 9.0), "b": (1.0, 10.0), "c": (2.0, 11.0)}
    for finding in (
        figures.series("grouped", chart("grouped.png"), "bar", SERIES),
        figures.series("points", chart("points.png"), "scatter", own),
        figures.series("facets", chart("facets.png"), "scatter", own),
        figures.shows("days", chart("days.png"), "line", days, ordered=True),
        figures.histogram("histogram", chart("histogram.svg"), values, bins=4),
        figures.histogram("spaced", chart("spaced.png"), values, bins=4),
        figures.shows("periods", chart("periods.png"), "bar", {"2020-01-01": 1, "2020-01-02": 2}),
        figures.histogram("page", chart("page_histogram.html"), values),
        figures.boxes("boxes", chart("boxes.png"), groups),
        figures.boxes("page", chart("page_boxes.html"), groups),
        figures.shows("heat", chart("heat.png"), "heatmap", cells),
        figures.axis_label("heat", chart("heat.png"), "color", "Mean"),
        figures.axis_label("page", chart("page_heat.html"), "color", "Mean"),
        figures.pie("pie", chart("pie.png"), {"a": 10, "b": 30}),
        figures.error_bars("errors", chart("errors.png"), errors),
        figures.error_bars("pandas", chart("errors_pandas.png"), errors),
        figures.error_bars("seaborn", chart("errors_seaborn.png"), whole),
    ):
        assert finding.passed, finding
    for finding in (
        figures.histogram("histogram", chart("histogram.svg"), values[1:], bins=4),
        figures.histogram("histogram", chart("histogram.svg"), values, bins=5),
        figures.boxes("boxes", chart("boxes.png"), {**groups, "a": values}),
        figures.axis_label("bar", chart("heat.png"), "color", "Means"),
        figures.axis_label("no bar", chart("pie.png"), "color", "Mean"),
        figures.pie("pie", chart("pie.png"), {"a": 11, "b": 30}),
        figures.error_bars("errors", chart("errors.png"), {**errors, "a": (3.0, 6.0)}),
        figures.error_bars("places", chart("errors.png"), {"a": errors["b"], "b": errors["a"]}),
        figures.error_bars("seaborn", chart("errors_seaborn.png"), {"a": whole["b"]}),
        figures.error_bars("none", chart("heat.png"), errors),
    ):
        assert not finding.passed


def test_a_file_that_no_program_saved_so_is_unrecorded(drawn: Guest) -> None:
    picture = drawn.read(f"{FOLDER}/matplotlib.png")
    drawn.write(f"{FOLDER}/copy.png", picture)
    drawn.write(f"{FOLDER}/other.png", picture + b"\n")
    assert figure(drawn, f"{FOLDER}/copy.png").ok
    assert figure(drawn, f"{FOLDER}/other.png").code == "figure_unrecorded"
    assert figure(drawn, f"{FOLDER}/none.png").code == "file_missing"
    drawn.write(f"{FOLDER}/words.png", b"a chart of the means\n")
    assert figure(drawn, f"{FOLDER}/words.png").code == "not_a_picture"


def test_a_notebooks_charts_are_on_record(drawn: Guest) -> None:
    code = f"{START}\nax = fresh(); ax.bar(means.index, means); plt.show()"
    write = (
        "import sys, nbformat; from nbformat.v4 import new_code_cell, new_notebook;"
        "nbformat.write(new_notebook(cells=[new_code_cell(sys.stdin.read())]), sys.argv[1])"
    )
    path = f"{FOLDER}/chart.ipynb"
    assert drawn.run(["python", "-c", write, path], stdin=code.encode()).ok
    result = drawn.run(["jupyter", "nbconvert", "--to", "notebook", "--execute", "--inplace", path], timeout=300)
    assert result.ok, result.stderr
    charts = notebook_figures(drawn, path)
    assert charts.value is not None, charts
    assert figures.shows("bars", charts.value[0], "bar", MEANS).passed
