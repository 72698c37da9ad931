// This file is long because the page has one subject: each of its tests looks at pages that the same two nodes make.
import {
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  existsSync,
} from 'node:fs';
import path from 'node:path';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Browser, missingForBrowser } from '../testing/pages/browser.js';
import { readHtml } from '../testing/pages/read-html.js';
import { processesWith, until } from '../testing/process-table.js';
import { freeMetrics } from '../testing/scrape.js';
import { freePorts } from '../testing/tunnel/tunnel.js';
import { wherePossible } from '../testing/where-possible.js';
import { Workspace } from '../testing/workspace.js';

interface Finding {
  readonly level: string;
  readonly check: string;
  readonly found: string;
  readonly advice?: string;
}

type Event = Readonly<Record<string, unknown>>;

const MIB = 2 ** 20;
const CANARY = 'canary-config-environment';
const HOSTILE = [
  '<script>alert(1)</script>',
  '</style><img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "' onmouseover='alert(1)",
  '&lt;b&gt;&amp;',
  '\u202Egpj.exe',
  '\u2066\u0000\u001B[31m\u0085',
  '{{7*7}}${7*7}<!--',
  'x'.repeat(256),
];
const ELEMENTS = new Set(
  (
    '!doctype html head meta style title body header main footer section h1 h2 h3 p b br span code time ol ul li dl dt dd div ' +
    'table thead tbody tr th td details summary figure figcaption svg defs path pattern g rect line text use desc'
  ).split(' '),
);
const ATTRIBUTES = new Set(
  (
    'html lang charset http-equiv content name class id width height x y x1 x2 y1 y2 d href role scope datetime text-anchor ' +
    'aria-hidden aria-label aria-labelledby patternUnits patternTransform'
  ).split(' '),
);

/** Reads a page, and expects it to be inert. */
function readInert(page: string) {
  const read = readHtml(page);
  for (const { name, attributes } of read.elements) {
    expect([name, ELEMENTS.has(name)]).toEqual([name, true]);
    for (const [key, value] of attributes) {
      expect([key, ATTRIBUTES.has(key)]).toEqual([key, true]);
      if (key === 'href') expect(['#bad', '#start']).toContain(value);
    }
  }
  expect(page.replaceAll('\n', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  const policies = read.elements.flatMap(({ attributes }) =>
    attributes.has('http-equiv') ? [attributes.get('content')] : [],
  );
  expect(policies).toEqual([
    expect.stringMatching(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'$/,
    ),
  ]);
  return read;
}

let workspace: Workspace;
let config: string;
const wins = (...words: string[]) => runWins(words, workspace.environment);

async function statusPage(name: string) {
  const file = workspace.path(name);
  const words = ['status', '--config', config, '--html', file, '-o', 'json'];
  const { code, stdout, stderr } = await wins(...words);
  expect(stderr).toBe('');
  const { findings } = JSON.parse(String(stdout)) as { readonly findings: readonly Finding[] };
  const page = readFileSync(file, 'utf8');
  return { code, file, findings, page, ...readInert(page) };
}

describe('the page of a node with problems', () => {
  let daemon: Daemon;
  let status: Awaited<ReturnType<typeof statusPage>>;
  let events: readonly Event[];
  /** Its name is a part of the page, as that of a run. */
  let markup: string;

  beforeAll(async () => {
    workspace = new Workspace();
    const free = await freeMetrics();
    const [port = 0] = await freePorts(1);
    const fails = workspace.script('fails', 'exit 3');
    const stays = workspace.script('stays', 'while :; do sleep 1; done');
    markup = workspace.script('<svg onload=alert(1)>&amp;"', 'exit 0');
    config = workspace.config([markup], {
      ...free.keys,
      processEnvironment: { TOKEN: CANARY },
      white_list: { processPaths: [markup], proxyPorts: [port] },
      keep: [
        { path: stays, name: 'stays' },
        { path: fails, name: 'own', restart: { policy: 'on-failure:2', delayMs: 1 } },
      ],
    });
    daemon = await Daemon.start(workspace, config);
    await wins('cli', 'prc', 'wait', 'keep:own');
    expect((await wins('cli', 'prc', 'run', '--path', markup)).code).toBe(0);
    for (const name of [HOSTILE[0], HOSTILE[0], HOSTILE[1], HOSTILE[5], `${CANARY}-file`]) {
      const refused = workspace.write(`refused/${name}`, 'x');
      expect((await wins('cli', 'prc', 'run', '--path', refused)).code).toBe(126);
    }
    await until(() => processesWith(workspace.path('rancher-wins-stays')).length > 0);
    const { stdout } = await wins('srv', 'events', '--config', config, '-o', 'json');
    events = String(stdout)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Event);
    status = await statusPage('status.html');
  });
  afterAll(async () => {
    await daemon.stop('SIGKILL');
    const keepers = () => processesWith('srv\0keep', workspace.folder);
    for (const pid of keepers()) process.kill(pid, 'SIGKILL');
    await until(() => keepers().length === 0);
    workspace[Symbol.dispose]();
  });

  it('says what the status says: one verdict, and the same problems with the same advice, problems first', () => {
    const { code, findings, text } = status;
    expect(code).toBe(2);
    const unwell = ['problem', 'warning'].flatMap((level) =>
      findings.filter((one) => one.level === level),
    );
    expect(unwell.map(({ level }) => level)).toEqual(['problem', 'warning']);
    expect(text).toContain('1 problem, 1 warning As of');
    const places = unwell.map(({ found, advice = '' }) => text.indexOf(`${found} → ${advice}`));
    expect(places.every((place, index) => place > (places[index - 1] ?? 0))).toBe(true);
    const shown = findings.filter(({ level, check }) => level === 'ok' && check !== 'refusals');
    for (const { check, found } of shown)
      // The age of the daemon differs by the time between two looks.
      if (check !== 'daemon') expect(text).toContain(`${check} ${found}`);
    expect(text).toContain('The daemon of this node has told its state.');
  });

  it('draws the runs with their attempts, restarts and failures', () => {
    const { text, elements } = status;
    const labels = elements.flatMap(({ attributes }) => attributes.get('aria-label') ?? []);
    expect(labels).toContain('Time line of keep:own: 3 attempts, 2 restarts, 3 failures');
    expect(labels).toContain('Time line of keep:stays: 1 attempt');
    expect(labels).toContain('Time line of the daemon: 1 start');
    expect(text).toContain('keep:own Failing: given up: it was started again 2 times');
    expect(text).toContain('failed: exited (code 3)');
  });

  it('counts the refusals that the events have, and shows hostile names as text', () => {
    const { text } = status;
    const refused = events.filter(({ verdict }) => verdict === 'refused');
    expect(refused.length).toBe(5);
    expect(text).toContain(`Refusals : ${refused.length} `);
    expect(text).toContain(
      `2 start ${workspace.path('refused')}/<script>alert(1)</script> not listed`,
    );
    expect(text).toContain('/</style><img src=x onerror=alert(1)>');
    expect(text).toContain('/\\u202egpj.exe');
    expect(text).toContain('rancher-wins-<svg onload=alert(1)>&amp;"');
  });

  it('lacks the secrets of the config, even where a client wrote one', () => {
    expect(status.page).not.toContain(CANARY);
    expect(status.text).toContain('/[removed]-file');
  });

  it('is a file that only this user can read, and replaces nothing', async () => {
    expect(statSync(status.file).mode & 0o777).toBe(0o600);
    const aim = workspace.path('aim');
    const link = workspace.path('link.html');
    symlinkSync(aim, link);
    for (const file of [status.file, link, workspace.folder]) {
      const { code, stderr } = await wins('status', '--config', config, '--html', file);
      expect([code, stderr]).toEqual([64, expect.stringContaining('exists already')]);
    }
    expect(existsSync(aim)).toBe(false);
    expect(readFileSync(status.file, 'utf8')).toBe(status.page);
  });

  it('leaves out the faults of a config that cannot be used, because they quote it', async () => {
    const before = readFileSync(config);
    writeFileSync(config, `listen: 7\nproxy: [canary-in-config]\n`);
    const { page, text, code } = await statusPage('broken.html');
    writeFileSync(config, before);
    expect(code).toBe(2);
    expect(page).not.toContain('canary-in-config');
    expect(text).toContain('the config cannot be used');
  });

  const inBrowser = wherePossible(
    it,
    missingForBrowser === undefined,
    `the page in a browser, which needs ${missingForBrowser}`,
  );
  inBrowser.each([
    [360, 'light'],
    [360, 'dark'],
    [1100, 'light'],
    [1100, 'dark'],
  ] as const)('is readable in a browser, %i pixels wide and %s', (width, scheme) =>
    expectReadable(status.file, width, scheme),
  );
});

describe('the page of a node whose daemon has died, with 10,000 hostile events', () => {
  let status: Awaited<ReturnType<typeof statusPage>>;
  const COUNT = 10_000;

  beforeAll(async () => {
    workspace = new Workspace();
    workspace.variables['TZ'] = 'Asia/Kolkata';
    config = workspace.config([workspace.script('tool', 'exit 0')]);
    const folder = path.join(workspace.runtimeDirectory, 'rancher_wins.events');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const lines = Array.from({ length: COUNT }, (_, index) => JSON.stringify(hostileEvent(index)));
    writeFileSync(path.join(folder, 'events.000000000000001.jsonl'), `${lines.join('\n')}\n`, {
      mode: 0o600,
    });
    status = await statusPage('hostile.html');
  });
  afterAll(() => workspace[Symbol.dispose]());

  /** Eight kinds of events over 30 hours; each fact is hostile, or has no place in its event. */
  function hostileEvent(index: number): object {
    const text = `${HOSTILE[index % HOSTILE.length]}${index % 997}`;
    const mark = String(index % 1013);
    const facts = { mark, name: text, label: text, path: text, reason: text, code: text };
    const kinds: readonly object[] = [
      { type: 'runStarted', ...facts },
      { type: 'runEnded', ...facts },
      { type: 'runRestarts', ...facts, waitMs: { text } },
      { type: 'runGaveUp', ...facts },
      { type: 'decided', verdict: 'refused', action: text, rule: text, path: text, client: text },
      { type: 'tunnelEnded', reason: text },
      { type: 'connectFailed', port: text, code: text },
      { type: 'counted', share: 'refused', count: index % 2 === 0 ? -1e308 : text },
      { type: text, time: 'never', [text]: text },
      { type: 'started', version: text, pid: text, ageMs: text },
    ];
    const atMs = Date.now() - (COUNT - index) * 10_800;
    return { seq: index + 1, time: new Date(atMs).toISOString(), ...kinds[index % kinds.length] };
  }

  it('is made from the disk', () => {
    expect(status.code).toBe(2);
    expect(status.text).toContain('No daemon has told its state: this page is made from the disk');
    expect(status.text).toContain(`${(COUNT * 9) / 10} events are kept`);
  });

  it('has times in UTC, and names the offset of the clock of the node', () => {
    expect(status.text).toContain('All times are UTC; the clock of this node is UTC+05:30');
    expect(status.text).toContain(' 12:00 17:30 ');
  });

  it('is bounded: it draws some runs and refusals, counts the rest, and has less than 1 MiB', () => {
    expect(status.page.length).toBeLessThan(MIB);
    const lanes = status.elements.filter(({ attributes }) => attributes.get('class') === 'lane');
    expect(lanes.length).toBe(26);
    expect(status.text).toMatch(/… and \d+ more runs\./);
    expect(status.text).toMatch(/… and \d+ more kinds\./);
    expect(status.text).not.toContain('x'.repeat(200));
  });

  const inBrowser = wherePossible(
    it,
    missingForBrowser === undefined,
    `the page in a browser, which needs ${missingForBrowser}`,
  );
  inBrowser.each([
    [360, 'light'],
    [1100, 'dark'],
  ] as const)('is readable in a browser, %i pixels wide and %s', (width, scheme) =>
    expectReadable(status.file, width, scheme),
  );
});

/** Runs in the browser: texts whose contrast with what is behind them is below that of WCAG's level AA. */
const TOO_FAINT = `(() => {
  const rgba = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor);
      if (color[3] !== 0) return color;
    }
    return [255, 255, 255];
  };
  return [...document.body.querySelectorAll('*')].filter((element) => {
    const owns = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!owns || ['title', 'desc'].includes(element.localName)) return false;
    const style = getComputedStyle(element);
    const ink = light(rgba(element.localName === 'text' ? style.fill : style.color));
    const paper = light(behind(element));
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05) < 4.5;
  }).map((element) => element.outerHTML);
})()`;

async function expectReadable(file: string, width: number, scheme: 'light' | 'dark') {
  const profile = workspace.path(`browser-${width}-${scheme}`);
  await using browser = Browser.start(profile);
  const page = await browser.open(file, { width, scheme });
  for (const state of ['closed', 'open']) {
    const widths = '[document.documentElement.scrollWidth, innerWidth]';
    expect([state, await page.evaluate(widths)]).toEqual([state, [width, width]]);
    const open = `for (const one of document.querySelectorAll('details')) one.open = true`;
    await page.evaluate(open);
  }
  expect(await page.evaluate(TOO_FAINT)).toEqual([]);
  const [verdict, paper] = await page.evaluate<[string, string]>(
    `[document.querySelector('.verdict').innerText, getComputedStyle(document.body).backgroundColor]`,
  );
  expect(verdict).toMatch(/^\d+ problems?, \d+ warnings?$/);
  expect(paper).toBe(scheme === 'dark' ? 'rgb(20, 22, 26)' : 'rgb(255, 255, 255)');
  const headings = `[...document.querySelectorAll('h1, h2')].map((one) => one.innerText.split(' ')[0])`;
  expect(await page.evaluate(headings)).toEqual(
    expect.arrayContaining(['Node', 'Problems', 'State', 'Runs', 'Refusals', 'Tunnels', 'Memory']),
  );
  expect(await page.evaluate(`document.scripts.length + document.images.length`)).toBe(0);
  const picture = await page.screenshot();
  expect(String(picture.subarray(1, 4))).toBe('PNG');
  const folder = process.env['WINS_TEST_SCREENSHOTS'] ?? workspace.folder;
  writeFileSync(path.join(folder, `${path.basename(file)}-${width}-${scheme}.png`), picture);
  expect(page.messages).toEqual([]);
  expect(page.requests).toEqual([`file://${file}`]);
  await browser[Symbol.asyncDispose]();
  rmSync(profile, { recursive: true });
}
