/** What Go's encoder escapes in strings beside what JSON demands. */
const ESCAPED = /[<>&\u2028\u2029]/g;

/** The text of `rancher2_connection_info.json` as Rancher writes it: keys in order, two spaces, `<`, `>` and `&` escaped, LF at its end. */
export function connectionInfoText(info: {
  readonly kubeConfig: string;
  readonly namespace: string;
  readonly secretName: string;
}): string {
  const { kubeConfig, namespace, secretName } = info;
  const json = JSON.stringify({ kubeConfig, namespace, secretName }, undefined, 2);
  const escaped = json.replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${escaped}\n`;
}
