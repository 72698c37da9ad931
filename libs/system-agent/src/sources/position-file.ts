import * as z from 'zod/mini';
import { AgentError } from '../agent-error.js';
import type { Outputs, PassState } from '../apply/pass.js';
import { readablePeriodic } from '../decide/cut-outputs.js';
import {
  gunzipText,
  gzipText,
  outputsJson,
  parseOutputs,
  parsePeriodic,
  parseProbes,
  periodicJson,
  probesJson,
} from '../decide/status-encoding.js';
import { goJson, goStruct } from '../plan/go-json.js';

/** Larger outputs could not be read back. */
export const MAX_OUTPUTS_TEXT = 8 * 1024 * 1024;

export interface Position extends PassState {
  /** Empty when no plan was applied. */
  readonly appliedChecksum: string;
}

export const NO_POSITION: Position = { appliedChecksum: '', outputs: {}, periodic: {}, probes: {} };

const schema = z.object({
  appliedChecksum: z._default(z.string(), ''),
  output: z._default(z.string(), ''),
  probeStatus: z._default(z.record(z.string(), z.unknown()), {}),
  periodicOutput: z._default(z.string(), ''),
});

/** @throws AgentError `invalidState`, without any of the text. */
export function parsePosition(text: string): Position {
  try {
    const { appliedChecksum, output, probeStatus, periodicOutput } = schema.parse(JSON.parse(text));
    return {
      appliedChecksum,
      outputs: parseOutputs(unpack(output)),
      periodic: parsePeriodic(unpack(periodicOutput)),
      probes: parseProbes(JSON.stringify(probeStatus)),
    };
  } catch {
    const found = 'the agent did not write it in this form';
    throw new AgentError('invalidState', `cannot read the state of a local plan: ${found}`);
  }
}

/** The Go agent's format: in the order of its struct, without empty members. */
export function positionText({ appliedChecksum, outputs, periodic, probes }: Position): string {
  const probeStatus = probesJson(probes);
  return goStruct([
    ['appliedChecksum', appliedChecksum === '' ? undefined : goJson(appliedChecksum)],
    ['output', pack(outputsJson(outputs))],
    ['probeStatus', probeStatus === '{}' ? undefined : probeStatus],
    ['periodicOutput', pack(periodicJson(readablePeriodic(periodic)))],
  ]);
}

/** Returns all outputs if they fit, else those in `names`, else none. */
export function fittingOutputs(outputs: Outputs, names: readonly string[]): Outputs {
  const fits = (some: Outputs): boolean => outputsJson(some).length <= MAX_OUTPUTS_TEXT;
  if (fits(outputs)) return outputs;
  const named = Object.fromEntries(
    Object.entries(outputs).filter(([name]) => names.includes(name)),
  );
  return fits(named) ? named : {};
}

const pack = (json: string): string => `"${gzipText(json).toString('base64')}"`;
const unpack = (base64: string): string => gunzipText(Buffer.from(base64, 'base64'));
