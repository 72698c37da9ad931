import { stateIn, type NodeFacts } from '../facts/node-facts.js';
import { itemId, type Item } from '../item/item.js';
import { stepOf } from '../item/step.js';
import { mergeSteps } from '../manifest/manifest.js';
import { dataFolders } from '../wish/install-places.js';
import { itemsOfWish, RKE2_SERVICE, type InstallWish } from '../wish/install-wish.js';
import { folderOf } from './ancestors.js';
import { refuse, type AdoptPlan } from './plan.js';

/**
 * Builds a manifest for an installation made by another program: all its items at known paths become ours, but not
 * parent folders, the program folder, certificates and the WinHTTP proxy, which may have existed before.
 */
export function planAdopt(facts: NodeFacts, wish: InstallWish): AdoptPlan {
  const { places, service } = wish;
  if (facts.manifest !== undefined)
    return { kind: 'nothing', reason: 'there is already a manifest' };
  if (stateIn(facts, { kind: 'service', name: service }) === undefined)
    return refuse(`there is no service ${service} on this node to adopt`);
  const folders = [places.configFolder, places.dataFolder, ...dataFolders(places)];
  const isShared = new Set([`service ${RKE2_SERVICE}`, 'winHttpProxy']);
  const beside = places.filesOfGo.map((path): Item => ({ kind: 'file', path }));
  const steps = [...itemsOfWish(wish, undefined), ...beside]
    .filter((item) => item.kind !== 'folder' || folders.includes(item.path))
    .filter((item) => !isShared.has(itemId(item)))
    .flatMap((item) => {
      const found = facts.states.get(itemId(item));
      return found === undefined ? [] : [stepOf(item, undefined, found)];
    });
  // A program at another path is adopted only if it is named wins.exe, so that no other program becomes ours.
  const program = facts.program?.path;
  const state = program && stateIn(facts, { kind: 'program', path: program });
  const isElsewhere = program !== undefined && program !== places.program;
  const isOurName =
    isElsewhere && program.slice(folderOf(program, facts.platform).length + 1) === 'wins.exe';
  const extra =
    isOurName && state
      ? [stepOf({ kind: 'file', path: program }, undefined, { ...state, access: 'executable' })]
      : [];
  return {
    kind: 'adopt',
    manifest: { ...mergeSteps(undefined, [...steps, ...extra]), isAdopted: true },
  };
}
