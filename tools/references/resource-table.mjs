/** Large enough not to limit a daemon. */
const DESCRIPTORS = 1_048_576;
const MIB = 1024 * 1024;

/**
 * Returns the table of the resources that clients share, in Markdown.
 *
 * @param {any} sources - Code of the daemon.
 */
export function resourceRows({ FEATURES, resourceTable, PROCESSOR }) {
  const all = Object.assign(
    {},
    resourceTable(DESCRIPTORS),
    ...FEATURES.map(({ resources }) => resources),
  );
  const row = (...cells) => `| ${cells.join(' | ')} |\n`;
  const rows = Object.entries(all).map(([name, resource]) => {
    const { what, total, reserve, floor, atLimit } = resource;
    const figure = (count) => (/bytes/.test(what) ? mebibytes(count) : count.toLocaleString('en'));
    const isTheirs = /^admin|^followers$/.test(name);
    const share = isTheirs ? '' : `${figure(Math.floor(total / 2))}; ${floor}`;
    const kept = isTheirs ? 'all of it' : figure(reserve);
    return row(`\`${name}\``, what, figure(total), share, kept, atLimit);
  });
  const { quantumMs, requests, connects } = PROCESSOR;
  const rate = (what, { burst, perSecond }) => `${perSecond} ${what} a second, ${burst} at once`;
  const asked = `${rate('requests', requests)}; ${rate('connections', connects)}`;
  const processor = row(
    '`processor`',
    'time of the daemon’s thread',
    'all of it',
    `${quantumMs} ms a turn; ${asked}`,
    'every second turn',
    'input waits',
  );
  const head = row('resource', 'what', 'total', 'a client: at most; at least', 'administrators');
  const cells = head.replace(/\n$/, ' at the limit |\n');
  return `${cells}${row(...Array(6).fill('---'))}${rows.join('')}${processor}`;
}

function mebibytes(bytes) {
  return `${bytes / MIB} MiB`;
}
