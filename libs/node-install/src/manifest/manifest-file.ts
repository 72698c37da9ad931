import { unlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { InstallError } from '../install-error.js';
import { readableJson, readIfThere, replaceOwn } from '../journal/own-files.js';
import { act, type InstallContext } from '../run/install-context.js';
import { MANIFEST_SCHEMA, type Manifest } from './manifest.js';

/** Where the manifest is. */
export function manifestPath(stateFolder: string): string {
  return path.join(stateFolder, 'install-manifest.json');
}

/**
 * The manifest of this node; undefined when there is none.
 *
 * @throws InstallError `unreadable`; `refused` when others could have written it.
 */
export async function readManifest({
  places,
  host,
}: InstallContext): Promise<Manifest | undefined> {
  const file = manifestPath(places.stateFolder);
  if (!existsSync(file)) return undefined;
  const distrust = host.trust.distrustOfFile(file);
  if (distrust !== undefined) {
    const found = `${distrust.path}: ${distrust.found}`;
    throw new InstallError('refused', `cannot trust ${file}: found ${found}; wanted one of ours`);
  }
  const manifest = parse(await readIfThere(file));
  if (manifest !== undefined) return manifest;
  const wanted = 'wanted the manifest of an installation';
  throw new InstallError('unreadable', `cannot read ${file}: found something else; ${wanted}`);
}

/** The text of a manifest. @throws InstallError `refused` when it could not be read again. */
export function manifestText(manifest: Manifest): string {
  return readableJson(MANIFEST_SCHEMA, manifest, 'write the manifest', 2);
}

/** Replaces the manifest as one act, durably; undefined removes it. */
export async function writeManifest(
  context: InstallContext,
  manifest: Manifest | undefined,
): Promise<void> {
  const file = manifestPath(context.places.stateFolder);
  await act(context, 'write manifest', async () => {
    if (manifest !== undefined) return replaceOwn(file, manifestText(manifest));
    if (existsSync(file)) await unlink(file);
  });
}

function parse(text: string | undefined): Manifest | undefined {
  try {
    return MANIFEST_SCHEMA.safeParse(JSON.parse(text ?? '')).data;
  } catch {
    return undefined;
  }
}
