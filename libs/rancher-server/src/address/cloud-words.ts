/** Where words are looked up. Tests have servers of their own. */
export interface CloudServices {
  /** Where each cloud tells a machine about itself. Link-local: what is asked there leaves no network. */
  readonly linkLocal: string;
  readonly equinix: string;
  readonly ipify: string;
}

export const CLOUD_SERVICES: CloudServices = {
  linkLocal: 'http://169.254.169.254',
  equinix: 'https://metadata.packet.net',
  ipify: 'https://api.ipify.org',
};

/** How a word becomes an address: a question that is answered by nothing else. */
export interface CloudWord {
  readonly service: keyof CloudServices;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a session is begun first: version 2 of the metadata service of AWS. */
  readonly hasSession?: boolean;
}

/** How a session is begun; its answer is the value of a header of the question. */
export const AWS_SESSION = {
  path: '/latest/api/token',
  headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '60' },
  answerHeader: 'x-aws-ec2-metadata-token',
} as const;

const linkLocal = (path: string, headers = {}): CloudWord => ({
  ...{ service: 'linkLocal', path, headers },
});
const aws = (name: string): CloudWord => ({
  ...linkLocal(`/latest/meta-data/${name}`),
  hasSession: true,
});
const azure = (name: string) => {
  const path = `/metadata/instance/network/interface/0/ipv4/ipAddress/0/${name}`;
  return linkLocal(`${path}?api-version=2021-02-01&format=text`, { metadata: 'true' });
};
const digitalOcean = (name: string) => linkLocal(`/metadata/v1/interfaces/${name}/0/ipv4/address`);
const google = (name: string) => {
  const headers = { 'metadata-flavor': 'Google' };
  return linkLocal(`/computeMetadata/v1/instance/network-interfaces/0/${name}`, headers);
};
const equinix = (name: string): CloudWord => ({
  ...{ service: 'equinix', path: `/2009-04-04/meta-data/${name}` },
});

/** The words that CATTLE_ADDRESS and CATTLE_INTERNAL_ADDRESS may be. */
export const CLOUD_WORDS: ReadonlyMap<string, CloudWord> = new Map([
  ['awslocal', aws('local-ipv4')],
  ['awspublic', aws('public-ipv4')],
  ['azprivate', azure('privateIpAddress')],
  ['azpublic', azure('publicIpAddress')],
  ['doprivate', digitalOcean('private')],
  ['dopublic', digitalOcean('public')],
  ['gceinternal', google('ip')],
  ['gceexternal', google('access-configs/0/external-ip')],
  ['packetlocal', equinix('local-ipv4')],
  ['packetpublic', equinix('public-ipv4')],
  ['ipify', { service: 'ipify', path: '/' }],
]);
