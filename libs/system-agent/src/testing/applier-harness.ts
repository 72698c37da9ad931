import { FakeClock } from '@wins/base/testing';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AgentAction, AgentEvent } from '../agent-event.js';
import { createApplier } from '../apply/create-applier.js';
import type { ApplierOptions } from '../apply/execute.js';
import type { Applier, Pass } from '../apply/pass.js';
import { posixPlanFiles } from '../apply/plan-files.js';
import { parsePlan } from '../plan/parse-plan.js';
import { groupRunner } from './group-runner.js';

/** Records actions and events. `close()` removes the folder. */
export class ApplierHarness {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'system-agent-'));
  readonly clock = new FakeClock();
  readonly actions: AgentAction[] = [];
  readonly events: AgentEvent[] = [];
  readonly options: ApplierOptions;
  readonly applier: Applier;

  constructor(changes: Partial<ApplierOptions> = {}) {
    this.options = {
      workDirectory: this.path('work'),
      preserveWorkDirectory: false,
      appliedPlanDirectory: this.path('applied'),
      stateDirectory: this.path('state'),
      clock: this.clock,
      files: posixPlanFiles(),
      programs: groupRunner(),
      images: { unpack: () => Promise.reject(new Error('there are no images')) },
      onAction: (action) => {
        this.actions.push(action);
        return Promise.resolve();
      },
      onEvent: (event) => this.events.push(event),
      ...changes,
    };
    this.applier = createApplier(this.options);
  }

  path(...names: string[]): string {
    return path.join(this.folder, ...names);
  }

  read(...names: string[]): string {
    return readFileSync(this.path(...names), 'utf8');
  }

  list(...names: string[]): string[] {
    try {
      return readdirSync(this.path(...names)).sort();
    } catch {
      return [];
    }
  }

  /** Returns a pass; by default, one that applies the plan for the first time. */
  pass(plan: object, changes: Partial<Pass> = {}): Pass {
    return {
      ...parsePlan(Buffer.from(JSON.stringify(plan))),
      source: 'remote',
      oneTime: { attempt: 1 },
      outputs: {},
      periodic: {},
      probes: {},
      startedAt: this.clock.now(),
      ...changes,
    };
  }

  /** Like `pass`, but without `oneTime`: neither files nor one-time instructions are due. */
  idle(plan: object, changes: Partial<Pass> = {}): Pass {
    const { oneTime: _, ...pass } = this.pass(plan, changes);
    return pass;
  }

  warnings(): string[] {
    return this.events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function shell(name: string, script: string, more: object = {}): object {
  return { name, command: '/bin/sh', args: ['-c', script], saveOutput: true, ...more };
}
