import type { AgentOptions } from '../system-agent.js';
import type { OutputFiles } from './output-files.js';
import type { Pass } from './pass.js';
import type { Warnings } from './warnings.js';
import type { WorkFolder } from './work-folder.js';

/** The options of an agent that an applier has. */
export type ApplierOptions = Omit<AgentOptions, 'localPlanDirectory' | 'secrets' | 'trust'>;

export interface PassContext {
  readonly options: ApplierOptions;
  readonly pass: Pass;
  /** Start of the pass, from which names and the times of periodic instructions derive. */
  readonly now: Date;
  readonly work: WorkFolder;
  readonly outputs: OutputFiles;
  readonly warnings: Warnings;
  readonly signal: AbortSignal;
}
