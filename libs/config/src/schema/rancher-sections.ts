/**
 * The sections by which Rancher configures a node. This program reads them, so that a config of an earlier release stays valid.
 */
import { about } from './notation.js';
import { flag, section, someText, text } from './value-schemas.js';

const since = '0.1.2';

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
    workDirectory: text()
      .meta(
        about(
          'Where executions have their folders; by default /var/lib/rancher/agent/work, on drive C: on Windows.',
          { since },
        ),
      )
      .optional(),
    localPlanDirectory: text()
      .meta(about('Where local plans lie; by default plans beside work.', { since }))
      .optional(),
    appliedPlanDirectory: text()
      .meta(
        about('Where plans that were applied are kept; by default applied beside work.', { since }),
      )
      .optional(),
    connectionInfoFile: text()
      .meta(
        about(
          'The file that says how to reach Rancher; by default rancher2_connection_info.json beside work.',
          { since },
        ),
      )
      .optional(),
    imagesDirectory: text()
      .meta(
        about('Where images lie that need no download; by default images beside work.', { since }),
      )
      .optional(),
    agentRegistriesFile: text()
      .meta(
        about(
          'The file that configures registries; by default those of Rancher, RKE2 and K3s are tried.',
          { since },
        ),
      )
      .optional(),
    imageCredentialProviderConfig: text()
      .meta(about('Not used, as in the original.', { since }))
      .optional(),
    imageCredentialProviderBinDirectory: text()
      .meta(about('Not used, as in the original.', { since }))
      .optional(),
    interlockDirectory: text()
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
      about('Download address; %s is the version.', required),
    ),
    version: someText('a version').meta(about('The version to install.', required)),
    kubeletPath: someText('a path').meta(about('The path of the kubelet.', required)),
  })
    .meta(about('The csi-proxy service to install. Absent: none.', { since, absent: 'none' }))
    .optional();
}

/** `tls-config`. */
export function tlsSection() {
  const inFirst = { since: '0.2.4' };
  return section({
    insecure: flag().meta(about('Accept any certificate.', inFirst)).optional(),
    certFilePath: text().meta(about('A PEM file of extra authorities.', inFirst)).optional(),
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
