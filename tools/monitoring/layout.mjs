// Draws the layout of the dashboard as text: its rows, and the panels of each with their widths.
const CELL = 4;

/** One line of boxes for each line of panels, under the title of its row. */
export function drawLayout({ panels }) {
  const lines = [];
  for (const line of linesOf(panels)) {
    if (line[0].type === 'row') lines.push(...(lines.length > 0 ? [''] : []), line[0].title);
    else lines.push(...boxes(line));
  }
  return lines.join('\n');
}

/** The panels that stand side by side, from the top down. */
function linesOf(panels) {
  const lines = new Map();
  for (const panel of panels) {
    const { y } = panel.gridPos;
    lines.set(y, [...(lines.get(y) ?? []), panel]);
  }
  return [...lines.entries()].sort(([a], [b]) => a - b).map(([, line]) => line);
}

function boxes(line) {
  const widths = line.map(({ gridPos }) => gridPos.w * CELL - 1);
  const edge = (left, between, right) =>
    left + widths.map((width) => '─'.repeat(width)).join(between) + right;
  const titles = line.map(({ title }, at) => ` ${title}`.slice(0, widths[at]).padEnd(widths[at]));
  return [edge('┌', '┬', '┐'), `│${titles.join('│')}│`, edge('└', '┴', '┘')];
}
