import { HttpClient, type HttpSettings } from '@wins/net';

/** How a Rancher server is asked. Everything has a default. */
export interface RancherSettings extends Omit<HttpSettings, 'tries' | 'keptConnections'> {
  /** Lets addresses begin with `http://`: a token then crosses the network in the clear. Default: false. */
  readonly allowHttp?: boolean;
}

/**
 * A client with one connection for each request, so that a token goes over none that something else was sent over; what may be asked again is, by
 * `retry`, as a whole.
 *
 * @param secret - Is repeated in no message.
 */
export function rancherClient(settings: RancherSettings, secret?: string): HttpClient {
  const secrets = [...(settings.secrets ?? []), ...(secret === undefined ? [] : [secret])];
  return new HttpClient({ ...settings, secrets, tries: 1 });
}
