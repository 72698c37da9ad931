import { createProjectGraphAsync } from '@nx/devkit';
import path from 'node:path';

/** Writes the project graph of Nx, because the rules of Nx read an outdated one, and check nothing without one. */
export async function writeProjectGraph() {
  // Without these settings, Nx starts a process for each plugin.
  process.loadEnvFile(path.resolve(import.meta.dirname, '../../.env'));
  await createProjectGraphAsync();
}
