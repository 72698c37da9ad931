import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

/** Absolute path, because the PATH may contain other programs of this name. */
const CHROMIUM = '/usr/bin/chromium';

export const missingForBrowser = existsSync(CHROMIUM)
  ? undefined
  : 'Chromium (Debian: apt-get install chromium)';

type Facts = Readonly<Record<string, unknown>>;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Facts;
  readonly result?: Facts;
  readonly error?: { readonly message: string };
  readonly sessionId?: string;
}

interface Answer {
  resolve(result: Facts): void;
  reject(error: Error): void;
}

export interface PageView {
  readonly width: number;
  readonly scheme: 'light' | 'dark';
}

/** A page in a browser, and what the browser reported since the page was opened. */
export interface OpenPage {
  /** Console messages, exceptions, and messages of the browser such as violations of a policy. */
  readonly messages: readonly Facts[];
  /** Addresses that the page asked for, itself included. */
  readonly requests: readonly string[];
  evaluate<Value>(expression: string): Promise<Value>;
  /** Returns a PNG of the whole page. */
  screenshot(): Promise<Buffer>;
}

/** A real browser without a window. It speaks the DevTools protocol over two pipes. */
export class Browser implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #out: Writable;
  readonly #answers = new Map<number, Answer>();
  readonly #listeners = new Set<(message: Message) => void>();
  #lastId = 0;

  private constructor(child: ChildProcess, out: Writable, input: Readable) {
    this.#child = child;
    this.#out = out;
    let rest = Buffer.alloc(0);
    input.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0)) {
        this.#receive(JSON.parse(String(rest.subarray(0, end))) as Message);
        rest = rest.subarray(end + 1);
      }
    });
    child.once('close', (code) => {
      const ended = new Error(`Chromium ended (${code})`);
      for (const answer of this.#answers.values()) answer.reject(ended);
    });
  }

  /** @param folder - Private folder for the browser's profile. */
  static start(folder: string): Browser {
    if (missingForBrowser !== undefined) throw new Error(`this needs ${missingForBrowser}`);
    const child = spawn(
      CHROMIUM,
      [
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--no-first-run',
        '--hide-scrollbars',
        `--user-data-dir=${folder}`,
        '--remote-debugging-pipe',
        'about:blank',
      ],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    );
    const [, , , out, input] = child.stdio;
    return new Browser(child, out as Writable, input as Readable);
  }

  /** Opens a file, and waits until it is loaded. */
  async open(file: string, { width, scheme }: PageView): Promise<OpenPage> {
    const { targetId } = await this.#call('Target.createTarget', { url: 'about:blank' });
    const attached = await this.#call('Target.attachToTarget', { targetId, flatten: true });
    const sessionId = String(attached['sessionId']);
    const call = (method: string, params: Facts = {}) => this.#call(method, params, sessionId);
    const messages: Facts[] = [];
    const requests: string[] = [];
    let onLoad: () => void = () => undefined;
    const loaded = new Promise<void>((resolve) => (onLoad = resolve));
    this.#listeners.add(({ method, params = {}, ...message }) => {
      if (message.sessionId !== sessionId) return;
      if (method === 'Page.loadEventFired') onLoad();
      if (method === 'Network.requestWillBeSent')
        requests.push((params['request'] as { readonly url: string }).url);
      if (method !== undefined && MESSAGES.has(method)) messages.push(params);
    });
    for (const domain of ['Page', 'Network', 'Log', 'Runtime', 'Audits'])
      await call(`${domain}.enable`);
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await call('Emulation.setEmulatedMedia', { features });
    const screen = { width, height: 800, deviceScaleFactor: 1, mobile: width < 600 };
    await call('Emulation.setDeviceMetricsOverride', screen);
    await call('Page.navigate', { url: pathToFileURL(file).href });
    await loaded;
    return {
      messages,
      requests,
      evaluate: async <Value>(expression: string) => {
        const answer = await call('Runtime.evaluate', { expression, returnByValue: true });
        if (answer['exceptionDetails'] !== undefined)
          throw new Error(JSON.stringify(answer['exceptionDetails']));
        return (answer['result'] as { readonly value: Value }).value;
      },
      screenshot: async () => {
        const { data } = await call('Page.captureScreenshot', { captureBeyondViewport: true });
        return Buffer.from(String(data), 'base64');
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return;
    const closed = once(this.#child, 'close');
    await this.#call('Browser.close');
    await closed;
  }

  #call(method: string, params: Facts = {}, sessionId?: string): Promise<Facts> {
    const id = (this.#lastId += 1);
    this.#out.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.#answers.set(id, { resolve, reject }));
  }

  #receive(message: Message): void {
    const { id, result = {}, error } = message;
    if (id === undefined) {
      for (const listener of this.#listeners) listener(message);
      return;
    }
    const answer = this.#answers.get(id);
    this.#answers.delete(id);
    if (error === undefined) answer?.resolve(result);
    else answer?.reject(new Error(error.message));
  }
}

const MESSAGES: ReadonlySet<string> = new Set([
  'Runtime.consoleAPICalled',
  'Runtime.exceptionThrown',
  'Log.entryAdded',
  'Audits.issueAdded',
]);
