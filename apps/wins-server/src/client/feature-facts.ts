import {
  featureServiceDefinition,
  type FeatureChangeRequest,
  type FeatureFacts,
} from '@wins/wins-api/contract';
import type { Level, Reported } from '../kernel/conditions/condition.js';
import { callRunningDaemon, type Question, type RunningDaemonOptions } from './running-daemon.js';

/** Reads the facts of the named features, and the conditions of all. */
export async function readState(
  options: RunningDaemonOptions,
  names: readonly string[],
  question: Question,
) {
  const { read } = featureServiceDefinition;
  const answer = await callRunningDaemon(options, read, { facts: names }, question);
  const conditions = answer.conditions.map((one): Reported => ({
    ...one,
    level: levelOf(one.level),
  }));
  return { ...answer, conditions };
}

/** A level that this release does not know is worth a look. */
function levelOf(text: string): Level {
  return text === 'ok' || text === 'problem' ? text : 'warning';
}

export async function readFacts(
  ...question: Parameters<typeof readState>
): Promise<readonly FeatureFacts[]> {
  return (await readState(...question)).features;
}

/** Makes or plans a change of the host by those of the named features that are on. A change has no time limit. */
export async function changeFeatures(
  options: RunningDaemonOptions,
  call: 'plan' | 'change',
  request: FeatureChangeRequest,
  question: Question,
): Promise<readonly FeatureFacts[]> {
  const method = featureServiceDefinition[call];
  const patient = call === 'plan' ? question : { ...question, timeoutMs: Infinity };
  return (await callRunningDaemon(options, method, request, patient)).features;
}
