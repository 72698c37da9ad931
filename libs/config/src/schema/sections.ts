/**
 * The sections by which Rancher configures a node. This program reads them, so that a config of an earlier release stays valid.
 */
import { about } from './notation.js';
import { flag, list, matching, section, shown, someText, text } from './value-schemas.js';

const since = '0.1.2';
const DIGEST = /^[0-9a-f]{64}$/i;

/** `systemagent`. */
export function systemAgentSection() {
  return section({
    localEnabled: flag()
      .meta(about('Apply plans from localPlanDirectory.', { since }))
      .default(false),
    remoteEnabled: flag().meta(about('Apply plans from Rancher.', { since })).default(false),
    preserveWorkDirectory: flag()
      .meta(about('Keep the working folder of a plan after it was applied.', { since }))
      .default(false),
    workDirectory: shown(text())
      .meta(
        about(
          'Where executions have their folders; by default /var/lib/rancher/agent/work, on drive C: on Windows.',
          { since },
        ),
      )
      .optional(),
    localPlanDirectory: shown(text())
      .meta(about('Where local plans lie; by default plans beside work.', { since }))
      .optional(),
    appliedPlanDirectory: shown(text())
      .meta(
        about('Where plans that were applied are kept; by default applied beside work.', { since }),
      )
      .optional(),
    connectionInfoFile: shown(text())
      .meta(
        about(
          'The file that says how to reach Rancher; by default rancher2_connection_info.json beside work.',
          { since },
        ),
      )
      .optional(),
    imagesDirectory: shown(text())
      .meta(
        about('Where images lie that need no download; by default images beside work.', { since }),
      )
      .optional(),
    agentRegistriesFile: shown(text())
      .meta(
        about(
          'The file that configures registries; by default those of Rancher, RKE2 and K3s are tried.',
          { since },
        ),
      )
      .optional(),
    imageCredentialProviderConfig: shown(text())
      .meta(about("The kubelet's configuration of credential providers. Absent: none.", { since }))
      .optional(),
    imageCredentialProviderBinDirectory: shown(text())
      .meta(about('The folder of the programs that it names.', { since }))
      .optional(),
    interlockDirectory: shown(text())
      .meta(about('Not used, as in the original daemon.', { since }))
      .optional(),
  })
    .meta(about('The embedded system-agent. Absent: off.', { since, absent: 'off' }))
    .optional();
}

/** `csi-proxy`. */
export function csiProxySection() {
  const required = { since, absent: 'required' };
  return section({
    url: someText('a download address').meta(
      about('Download address of the archive; %s, %v or %[1]s is the version.', {
        ...required,
        shown: 'address',
      }),
    ),
    version: shown(someText('a version')).meta(
      about('The version to install, such as v1.1.3.', required),
    ),
    kubeletPath: shown(someText('a path')).meta(
      about('The folder of the kubelet; the path of kubelet.exe says nothing.', required),
    ),
    sha256: shown(matching(DIGEST, 'a SHA-256 digest of 64 hexadecimal digits'))
      .toLowerCase()
      .meta(
        about('SHA-256 digest of the archive. Absent: that of the first download over TLS.', {
          absent: 'the first download',
        }),
      )
      .optional(),
    args: list(someText('an argument'), 'arguments')
      .meta(
        about('More arguments of the service, each whole: -v=4.', {
          absent: 'none',
          shown: 'count',
        }),
      )
      .optional(),
    path: shown(text())
      .meta(about('The folder of the releases; by default csi-proxy beside the config.'))
      .optional(),
  })
    .meta(
      about(
        'The csi-proxy service to keep. Absent: none, and what wins has installed is removed.',
        { since, absent: 'none' },
      ),
    )
    .optional();
}

/** `tls-config`. */
export function tlsSection() {
  const inFirst = { since: '0.2.4' };
  return section({
    insecure: flag()
      .meta(about('Accept any certificate; csi-proxy.sha256 is required then.', inFirst))
      .optional(),
    certFilePath: shown(text())
      .meta(about('A PEM file of authorities besides those of the system.', inFirst))
      .optional(),
  })
    .meta(about('TLS of the csi-proxy download.', inFirst))
    .optional();
}

/** `agentStrictTLSMode`. */
export function agentStrictTlsMode() {
  return flag()
    .meta(about('The system-agent trusts only the CA it was given.', { since: '0.4.18' }))
    .default(false);
}
