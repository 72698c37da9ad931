/** A rule that refuses the spelling of a path, as docs/threat-model.md numbers it: for audit records, never for a message. */
export type PathRule =
  | 'A3 short (8.3) name'
  | 'A4 device namespace'
  | 'A5 trailing dot or space'
  | 'A6 alternate data stream'
  | 'A9 device name'
  | 'A10 network path'
  | 'A11 empty or over-long path'
  | 'A11 names a directory'
  | 'A11 not absolute'
  | 'A11 relative segment'
  | 'A13 character not possible in a file name'
  | 'A13 control or invisible character'
  | 'A14 environment expansion'
  | 'A20 batch file'
  | 'name reserved for verified copies';

/** What a person reads where a rule refused the spelling of a path: the end of a sentence. */
const WORDS: Readonly<Record<PathRule, string>> = {
  'A3 short (8.3) name': 'a name in it is a short (8.3) one; wanted the long one',
  'A4 device namespace': 'it names a device namespace; wanted a path on a drive',
  'A5 trailing dot or space': 'a name in it ends with a dot or a space; wanted none that does',
  'A6 alternate data stream': 'it names a data stream of a file; wanted the file',
  'A9 device name': 'a name in it is that of a device; wanted a file',
  'A10 network path': 'it names another machine; wanted a path on a drive of the host',
  'A11 empty or over-long path': 'it is empty or too long; wanted an absolute path',
  'A11 names a directory': 'it names a folder; wanted a program',
  'A11 not absolute': 'it is not absolute; wanted the whole path',
  'A11 relative segment': 'it has "." or ".." in it; wanted the path to which that leads',
  'A13 character not possible in a file name':
    'it has one of < > " | ? * in it, which no file name has; wanted the path of one program',
  'A13 control or invisible character':
    'it has a control or an invisible character in it; wanted none',
  'A14 environment expansion': 'it has "%" in it, and no variable is expanded; wanted the path',
  'A20 batch file': 'it is a batch file, which needs a shell; wanted a program',
  'name reserved for verified copies':
    'its name begins with "rancher-wins-", as verified copies do; wanted another name',
};

/** What was found and what was wanted, for a message: "cannot run X: FOUND; wanted Y". */
export function describePathRule(rule: PathRule): string {
  return WORDS[rule];
}
