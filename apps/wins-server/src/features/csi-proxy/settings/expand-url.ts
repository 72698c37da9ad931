export type ExpandedUrl =
  { readonly url: string } | { readonly found: string; readonly wanted: string };

const VERBS = '%s, %v or %[1]s for the version, and %% for a percent sign';
const PLACES: ReadonlySet<string> = new Set(['%s', '%v', '%[1]s']);
const VERB = /%(?:\[\d*\])?.?/gu;

/**
 * Puts a version into the template of an address, as the printf of Go does for the templates that Rancher makes. What Go would print as a
 * complaint into the address is an error here: another verb, `%2F`, a second `%s`, no place for the version.
 */
export function expandUrl(template: string, version: string): ExpandedUrl {
  const faults: ExpandedUrl[] = [];
  let places = 0;
  const url = template.replace(VERB, (verb, at: number) => {
    if (verb === '%%') return '%';
    const column = at + 1;
    if (!PLACES.has(verb)) {
      faults.push({ found: `${JSON.stringify(verb)} at column ${column}`, wanted: VERBS });
    } else if (verb !== '%[1]s' && places > 0) {
      // A verb without a number stands for the argument behind the last one, and there is one argument.
      const found = `a second place, ${verb}, at column ${column}`;
      faults.push({ found, wanted: '%[1]s there, which is the version again' });
    }
    places += 1;
    return version;
  });
  if (places === 0)
    faults.push({ found: `no place for the version, to column ${template.length}`, wanted: VERBS });
  return faults[0] ?? { url };
}
