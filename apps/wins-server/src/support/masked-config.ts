import type { AllowedPath, ConfigProblem, CsiProxySettings, LoadedConfig } from '@wins/config';
import { addressWithoutSecrets } from '../features/support-bundle/cleaner.js';

/**
 * A config as it may be shown to those who help: made of the values that are named here, so that a key which is added later is not shown. Values of
 * variables are left out and their names kept; an address has no user, password and query; of arguments there is the number.
 */
export function maskedConfig({ config, path, found, origins, warnings }: LoadedConfig): object {
  const { debug, listen, proxy, pipeAccess, reflection, agentStrictTlsMode } = config;
  const { tunnel, routes, audit, upgrade, whiteList, systemAgent, csiProxy, tlsConfig } = config;
  const { metrics, tracing, debugPipe } = config;
  return {
    file: path,
    found,
    setInFile: origins.filter(({ origin }) => origin !== 'default').map(({ key }) => key),
    warnings: warnings.map(problemPlace),
    config: {
      ...{ debug, debugPipe, listen, proxy, pipeAccess, reflection },
      agentStrictTLSMode: agentStrictTlsMode,
      processEnvironment: Object.keys(config.processEnvironment),
      white_list: {
        processPaths: whiteList.processPaths.map(maskedEntry),
        proxyPorts: whiteList.proxyPorts,
      },
      tunnel: {
        maxSessions: tunnel.maxSessions,
        maxStreams: tunnel.maxStreams,
        handshakeTimeoutMs: tunnel.handshakeTimeoutMs,
      },
      routes: { allow: routes.allow },
      audit: {
        directory: audit.directory,
        maxFileBytes: audit.maxFileBytes,
        maxFiles: audit.maxFiles,
      },
      metrics: metrics && { listen: metrics.listen, allowRemote: metrics.allowRemote },
      tracing: tracing && { endpoint: addressWithoutSecrets(tracing.endpoint) },
      upgrade: { mode: upgrade.mode, watchingPath: upgrade.watchingPath },
      systemagent: systemAgent && {
        localEnabled: systemAgent.localEnabled,
        remoteEnabled: systemAgent.remoteEnabled,
        preserveWorkDirectory: systemAgent.preserveWorkDirectory,
        workDirectory: systemAgent.workDirectory,
        localPlanDirectory: systemAgent.localPlanDirectory,
        appliedPlanDirectory: systemAgent.appliedPlanDirectory,
        connectionInfoFile: systemAgent.connectionInfoFile,
        imagesDirectory: systemAgent.imagesDirectory,
        agentRegistriesFile: systemAgent.agentRegistriesFile,
        interlockDirectory: systemAgent.interlockDirectory,
      },
      'csi-proxy': csiProxy && maskedCsiProxy(csiProxy),
      'tls-config': tlsConfig && {
        insecure: tlsConfig.insecure,
        certFilePath: tlsConfig.certFilePath,
      },
    },
  };
}

/** Where a problem is, without what was found there. */
export function problemPlace({ code, severity, line, column }: ConfigProblem): object {
  return { severity, code, line, column };
}

function maskedEntry({ path, sha256, envs, args, directories, ...entry }: AllowedPath): object {
  return {
    ...{ path, sha256, envs, directories },
    args: typeof args === 'object' ? `${args.length} lists` : args,
    for: entry.for,
    mayBreakAway: entry.mayBreakAway,
    argv0: entry.argv0,
  };
}

function maskedCsiProxy({
  url,
  version,
  kubeletPath,
  sha256,
  args,
  path,
}: CsiProxySettings): object {
  const address = addressWithoutSecrets(url);
  return {
    url: address,
    version,
    kubeletPath,
    sha256,
    path,
    args: `${args?.length ?? 0} arguments`,
  };
}
