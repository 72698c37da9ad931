import {
  featureServiceDefinition,
  type FeatureChangeRequest,
  type FeatureFacts,
} from '@wins/wins-api/contract';
import { callRunningDaemon, type Question, type RunningDaemonOptions } from './running-daemon.js';

export async function readFacts(
  options: RunningDaemonOptions,
  names: readonly string[],
  question: Question,
): Promise<readonly FeatureFacts[]> {
  const { read } = featureServiceDefinition;
  return (await callRunningDaemon(options, read, { facts: [...names] }, question)).features;
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
