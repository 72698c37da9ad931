import { RegistryKey } from './registry.js';

/** Where Windows is, as the registry says: the environment may come from a container. Undefined when it does not say. */
export function windowsFolder(): string | undefined {
  const key = RegistryKey.open('SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion');
  try {
    const root = key?.value('SystemRoot');
    return root?.type === 'text' ? root.value : undefined;
  } finally {
    key?.close();
  }
}
