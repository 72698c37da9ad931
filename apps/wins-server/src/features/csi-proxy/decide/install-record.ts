import * as z from 'zod';

const text = z.string().max(4096);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** `program` is an absolute path. */
const command = z.object({ program: text, args: z.array(text).max(128).readonly() }).readonly();
/** `archiveSha256` is of the archive, `programSha256` of the program in it, which lies at `program`. */
const release = z
  .object({ version: text, archiveSha256: sha256, programSha256: sha256, program: text })
  .readonly();
const obsoleteProgram = z.object({ path: text, sha256 }).readonly();

export const installRecord = z
  .object({
    /** The digest of the archive by version, as it was seen first. */
    pins: z.record(text, sha256).readonly(),
    releases: z.array(release).max(256).readonly(),
    /** Command with which the service was proven to serve; absent: nothing of ours. */
    installed: command.exactOptional(),
    /** A change of the service without an end yet; `from` is what is put back, absent for a service that is new. */
    trial: z.object({ to: command, from: command.exactOptional() }).readonly().exactOptional(),
    /** The program of an installation that was taken over. */
    obsolete: obsoleteProgram.exactOptional(),
  })
  .readonly();

export type ServiceCommand = z.infer<typeof command>;
export type StoredRelease = z.infer<typeof release>;
/** A program that is to be removed once nothing needs it, if it is still the one that was seen. */
export type ObsoleteProgram = z.infer<typeof obsoleteProgram>;
export type InstallRecord = z.infer<typeof installRecord>;

export const NO_RECORD: InstallRecord = { pins: {}, releases: [] };
