import { escapeText } from '@wins/base';
import type { CpuProfile, CpuProfileNode } from './recording.js';

const MOST_STACKS = 32;
const MOST_FRAMES = 64;
/** Pseudo-functions of the profiler while no function runs. */
const NOWHERE = new Set(['(root)', '(program)', '(idle)', '(garbage collector)']);

/** Returns the stacks of a profile, most frequent first, each with its share of the samples. Pure. */
export function stacksText({ nodes, samples = [] }: CpuProfile): string {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const seen = new Map<number, number>();
  for (const id of samples) seen.set(id, (seen.get(id) ?? 0) + 1);
  const ranked = [...seen].sort(([, one], [, other]) => other - one);
  const shown = ranked.slice(0, MOST_STACKS).map(([id, count]) => {
    const share = ((count / samples.length) * 100).toFixed(1);
    return [`${share} % of ${samples.length} looks`, ...framesFrom(id, byId, parents)].join('\n');
  });
  const hidden = ranked.length - shown.length;
  return [...shown, ...(hidden > 0 ? [`and ${hidden} rarer stacks`] : [])].join('\n\n');
}

function framesFrom(
  leaf: number,
  nodes: ReadonlyMap<number, CpuProfileNode>,
  parents: ReadonlyMap<number, number>,
): string[] {
  const frames: string[] = [];
  for (
    let id: number | undefined = leaf;
    id !== undefined && frames.length < MOST_FRAMES;
    id = parents.get(id)
  ) {
    const frame = nodes.get(id)?.callFrame;
    if (frame === undefined || (NOWHERE.has(frame.functionName) && frames.length > 0)) break;
    frames.push(`    ${frameText(frame)}`);
  }
  return frames;
}

function frameText({ functionName, url, lineNumber }: CpuProfileNode['callFrame']): string {
  if (NOWHERE.has(functionName)) return functionName;
  const name = functionName === '' ? '(anonymous)' : functionName;
  return escapeText(url === '' ? name : `${name} (${url}:${lineNumber + 1})`);
}
