/** An address, or what is wrong with its template. */
export type ExpandedUrl =
  { readonly url: string } | { readonly found: string; readonly wanted: string };

const VERBS = '%s, %v or %[1]s for the version, and %% for a percent sign';
const PLACE = /%(?:%|s|v|\[1\]s)/y;

/**
 * Puts a version into the template of an address, as the printf of Go does for the templates that Rancher makes. What Go would print as a
 * complaint into the address is an error here: another verb, `%2F`, a second `%s`, no place for the version.
 */
export function expandUrl(template: string, version: string): ExpandedUrl {
  let url = '';
  let places = 0;
  for (let at = 0; at < template.length;) {
    const char = template.charAt(at);
    if (char !== '%') {
      url += char;
      at += 1;
      continue;
    }
    PLACE.lastIndex = at;
    const verb = PLACE.exec(template)?.[0];
    const column = at + 1;
    if (verb === undefined) {
      const found = JSON.stringify(/^%(?:\[\d*\])?.?/u.exec(template.slice(at))?.[0]);
      return { found: `${found} at column ${column}`, wanted: VERBS };
    }
    // A verb without a number stands for the argument behind the last one, and there is one argument.
    if (verb === '%%') url += '%';
    else if (verb !== '%[1]s' && places > 0) {
      const found = `a second place, ${verb}, at column ${column}`;
      return { found, wanted: '%[1]s there, which is the version again' };
    } else {
      url += version;
      places += 1;
    }
    at += verb.length;
  }
  if (places > 0) return { url };
  return { found: `no place for the version, to column ${template.length}`, wanted: VERBS };
}
