'use strict';
// A click on a heading, or Enter on it, sorts the rows by its column; another one turns them round.
for (const table of document.querySelectorAll('table')) {
    if (!table.tHead || table.tBodies[0].rows.length < 2) continue;
    for (const heading of table.tHead.rows[0].cells) {
        const button = document.createElement('button');
        button.type = 'button';
        button.append(...heading.childNodes);
        button.addEventListener('click', () => sort(table, heading));
        heading.append(button);
    }
}

// Draws each chart where its specification stands. SVG, so that the style sheet colours text and lines: one drawing
// serves the light page, the dark page and paper.
// What is folded has no width to be drawn in: it is drawn when it is opened.
for (const place of document.querySelectorAll('.chart')) {
    const folded = place.closest('details.experiment:not([open])');
    folded ? folded.addEventListener('toggle', () => draw(place), {once: true}) : draw(place);
}

// A link leads to what it names, and paper has all of it.
function unfold() {
    document.querySelector(`${location.hash || '#none'} > details.experiment`)?.setAttribute('open', '');
}
addEventListener('hashchange', unfold);
unfold();
addEventListener('beforeprint', () => document.querySelectorAll('details.experiment').forEach((each) => each.setAttribute('open', '')));

function sort(table, heading) {
    const turn = heading.ariaSort === 'ascending' ? -1 : 1;
    const rows = [...table.tBodies[0].rows].map((row) => {
        const text = row.cells[heading.cellIndex].textContent.trim();
        return {row, text, number: quantity(text)};
    });
    // A cell without a figure is last in both directions. A column in which anything else is no figure is one of words.
    const isEmpty = ({text}) => text === '–' || text === '';
    const isNumeric = rows.every((each) => isEmpty(each) || !Number.isNaN(each.number));
    const inWords = new Intl.Collator('en', {numeric: true});
    rows.sort((one, other) => isEmpty(one) - isEmpty(other) || turn * (isNumeric && !isEmpty(one) ? one.number - other.number : inWords.compare(one.text, other.text)));
    for (const each of table.tHead.rows[0].cells) each.ariaSort = null;
    heading.ariaSort = turn === 1 ? 'ascending' : 'descending';
    table.tBodies[0].append(...rows.map(({row}) => row));
}

// A figure as the report writes it, by itself or at the beginning of an interval or a bound: 1,036, 1/1,036, 27.2 ns, 0.12 [0.1 … 0.2].
function quantity(text) {
    const [, part, digits, unit] = /^(?:at (?:most|least) )?(1\/)?(\d[\d,]*(?:\.\d+)?)(?: (ns|µs|ms|s|%|×))?(?= …| \[| \(|$)/.exec(text) ?? [];
    if (digits === undefined) return text === '∞' ? Infinity : NaN;
    const number = Number(digits.replaceAll(',', ''));
    return (part ? 1 / number : number) * ({µs: 1e3, ms: 1e6, s: 1e9}[unit] ?? 1);
}

function draw(place) {
    const specification = JSON.parse(place.querySelector('script').textContent);
    if (place.parentElement.clientWidth < 640) fitTelephone(place, specification);
    vegaEmbed(place, specification, {
        mode: 'vega-lite',
        renderer: 'svg',
        actions: false,
        logLevel: vega.Error,
        config: {
            background: 'transparent',
            view: {stroke: null},
            axis: {labelFontSize: 12, titleFontSize: 12, titleFontWeight: 'normal'},
            legend: {labelFontSize: 12},
            font: 'system-ui, sans-serif',
        },
    });
}

// Names stand above their dots instead of beside them, and below each other in a legend. A heat map is wide whatever is done: it scrolls.
function fitTelephone(place, specification) {
    if (specification.width !== 'container') return;
    place.classList.add('telephone');
    const {y} = specification.encoding;
    if (y) {
        specification.height.step = 38;
        Object.assign(y.axis, {labelAlign: 'left', labelBaseline: 'middle', labelPadding: -4, labelOffset: -12, labelLimit: 320, ticks: false});
    }
    for (const {encoding} of specification.layer) {
        for (const channel of Object.values(encoding)) {
            if (channel.legend) channel.legend.columns = 1;
            if (channel.axis) channel.axis.tickCount = 3;
        }
    }
    if (specification.encoding.color?.legend) specification.encoding.color.legend.columns = 1;
}
