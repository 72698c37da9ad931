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
  /** Asked first; its answer is the value of a header of the question. */
  readonly session?: {
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly answerHeader: string;
  };
}

/** Version 2 of the metadata service: a session first. */
const aws = (path: string): CloudWord => ({
  service: 'linkLocal',
  path: `/latest/meta-data/${path}`,
  session: {
    path: '/latest/api/token',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '60' },
    answerHeader: 'x-aws-ec2-metadata-token',
  },
});
const azure = (name: string): CloudWord => ({
  service: 'linkLocal',
  path: `/metadata/instance/network/interface/0/ipv4/ipAddress/0/${name}?api-version=2021-02-01&format=text`,
  headers: { metadata: 'true' },
});
const digitalOcean = (name: string): CloudWord => ({
  service: 'linkLocal',
  path: `/metadata/v1/interfaces/${name}/0/ipv4/address`,
});
const google = (name: string): CloudWord => ({
  service: 'linkLocal',
  path: `/computeMetadata/v1/instance/network-interfaces/0/${name}`,
  headers: { 'metadata-flavor': 'Google' },
});
const equinix = (name: string): CloudWord => ({
  service: 'equinix',
  path: `/2009-04-04/meta-data/${name}`,
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
