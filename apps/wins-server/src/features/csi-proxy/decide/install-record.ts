import * as z from 'zod';

const text = z.string().max(4096);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** `program` is an absolute path. */
const command = z.object({ program: text, args: z.array(text).max(128).readonly() }).readonly();
/** `program` is the path of the unpacked program. `programSha256` is its digest, and `archiveSha256` that of the archive. */
const release = z
  .object({ version: text, archiveSha256: sha256, programSha256: sha256, program: text })
  .readonly();
const obsoleteProgram = z.object({ path: text, sha256 }).readonly();

export const installRecord = z
  .object({
    /** For each version, the digest of its archive when first downloaded. */
    pins: z.record(text, sha256).readonly(),
    releases: z.array(release).max(256).readonly(),
    /** Latest service command known to work: with it, the service served its pipe. Absent until the daemon has installed a service that serves. */
    installed: command.exactOptional(),
    /** Unfinished change of the service. A failure restores `from`, which is absent for a new service. */
    trial: z.object({ to: command, from: command.exactOptional() }).readonly().exactOptional(),
    obsolete: obsoleteProgram.exactOptional(),
  })
  .readonly();

export type ServiceCommand = z.infer<typeof command>;
export type StoredRelease = z.infer<typeof release>;
/** Program to remove later, unless it has changed. */
export type ObsoleteProgram = z.infer<typeof obsoleteProgram>;
export type InstallRecord = z.infer<typeof installRecord>;

export const NO_RECORD: InstallRecord = { pins: {}, releases: [] };
