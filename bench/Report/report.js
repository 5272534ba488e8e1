'use strict';
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
