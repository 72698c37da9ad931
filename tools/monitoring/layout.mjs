/** Width of the dashboard in Grafana's grid columns. */
const LINE = 24;

/** Returns the faults of a dashboard: duplicate ids or titles, missing descriptions, and gaps or overlaps between panels side by side. */
export function faultsOfPanels({ panels }) {
  const ids = new Set(panels.map(({ id }) => id));
  const titles = new Set(panels.map(({ title, type }) => `${type === 'row'} ${title}`));
  const silent = panels.filter(({ type, description }) => type !== 'row' && !description);
  return [
    ...(ids.size === panels.length ? [] : ['two panels have one id']),
    ...(titles.size === panels.length ? [] : ['two panels have one title']),
    ...silent.map(({ title }) => `${title}: there is no description`),
    ...linesOf(panels).flatMap((line) => {
      const [{ gridPos, title }] = line;
      const ends = line.reduce(
        (x, { gridPos: next }) => (next.x === x && next.h === gridPos.h ? x + next.w : NaN),
        0,
      );
      return ends === LINE ? [] : [`the line of ${title} has gaps, or overlaps`];
    }),
  ];
}

function linesOf(panels) {
  const lines = new Map();
  for (const panel of panels) {
    const { y } = panel.gridPos;
    lines.set(y, [...(lines.get(y) ?? []), panel]);
  }
  return [...lines.entries()]
    .sort(([a], [b]) => a - b)
    .map(([, line]) => line.toSorted((a, b) => a.gridPos.x - b.gridPos.x));
}
