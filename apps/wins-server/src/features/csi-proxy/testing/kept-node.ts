import { posixFileTrust } from '@wins/trusted-files';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Decision } from '../../../kernel/audit/decision.js';
import type { DesiredCsiProxy } from '../settings/judge-settings.js';
import { keepCsiProxy, type CsiProxyOptions, type KeptCsiProxy } from '../start-csi-proxy.js';
import { archiveOf } from './archive-of.js';
import { LinuxCsiNode } from './linux-csi-node.js';
import { memoryDownload } from './memory-download.js';
import { patientClock } from './patient-clock.js';
import { stubProgram, type StubBehaviour } from './stub-program.js';

/** A node in a folder whose csi-proxy is kept, with a server in memory. */
export class KeptNode implements AsyncDisposable {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'csi-'));
  readonly home = path.join(this.folder, 'wins', 'csi-proxy');
  readonly system = new LinuxCsiNode(path.join(this.folder, 'system'), 50);
  readonly files = new Map<string, Buffer>();
  readonly decisions: Decision[] = [];
  readonly states: string[] = [];
  readonly warnings: string[] = [];
  readonly open: KeptCsiProxy[] = [];
  /** Returns whether the service never does what is waited for. */
  isHopeless = (): Promise<boolean> => Promise.resolve(false);

  urlOf(version: string): string {
    return `https://example.com/${version}.tar.gz?sig=canary`;
  }

  desired(version: string, more: Partial<DesiredCsiProxy> = {}): DesiredCsiProxy {
    const args = ['-windows-service', '-v=1'];
    return { url: this.urlOf(version), version, args, folder: this.home, trust: {}, ...more };
  }

  async publish(version: string, behaviour: Partial<StubBehaviour> = {}): Promise<Buffer> {
    const content = stubProgram({ mark: version, ...behaviour });
    const archive = await archiveOf([{ name: 'bin/csi-proxy.exe', content }]);
    this.files.set(this.urlOf(version), archive);
    return archive;
  }

  async installGo(): Promise<void> {
    const { adoptedProgram } = this.system;
    mkdirSync(path.dirname(adoptedProgram));
    writeFileSync(adoptedProgram, stubProgram({ mark: 'go' }), { mode: 0o700 });
    await this.system.install(adoptedProgram, ['-windows-service']);
  }

  keep(desired: DesiredCsiProxy | undefined, more: Partial<CsiProxyOptions> = {}): KeptCsiProxy {
    const kept = keepCsiProxy(
      {
        stateFolder: this.home,
        downloadFor: () => memoryDownload(this.files),
        trust: posixFileTrust(),
        clock: patientClock(() => this.isHopeless()),
        onDecision: (decision) => {
          this.decisions.push(decision);
          return Promise.resolve();
        },
        onStatus: ({ state }) => this.states.push(state),
        onWarning: (message) => this.warnings.push(message),
        ...more,
      },
      desired,
      this.system,
    );
    this.open.push(kept);
    return kept;
  }

  async runs(version: string): Promise<boolean> {
    const [program = ''] = await this.system.command();
    return program.startsWith(path.join(this.home, `${version}-`));
  }

  /** Returns the mark of the program that serves the pipe. */
  answer(): Promise<string> {
    return new Promise((resolve, reject) => {
      let text = '';
      const socket = connect(this.system.pipe).setEncoding('utf8');
      socket.on('data', (part) => (text += String(part)));
      socket.on('error', reject).on('close', () => resolve(text));
    });
  }

  get pins(): Readonly<Record<string, string>> {
    const text = readFileSync(path.join(this.home, 'state.json'), 'utf8');
    return (JSON.parse(text) as { pins: Record<string, string> }).pins;
  }

  get isInstalled(): boolean {
    return this.system.process.pid !== undefined;
  }

  async [Symbol.asyncDispose]() {
    for (const kept of this.open) await kept.close();
    await this.system.process.stop(0);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
