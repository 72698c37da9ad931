import { networkInterfaces } from 'node:os';

/** The network adapters of this node. */
export interface AddressAdapters {
  /** The IPv4 addresses of the adapter with this name, as it spells it; undefined when there is none. */
  ipv4Of(name: string): readonly string[] | undefined;
}

/** The adapters as Node knows them: by `eth0` on Linux, by `Ethernet 2` on Windows, where letters may be capital or small. */
export const systemAdapters: AddressAdapters = {
  ipv4Of: (name) => {
    const adapters = Object.entries(networkInterfaces());
    const fold = (text: string) => (process.platform === 'win32' ? text.toLowerCase() : text);
    const [, found] = adapters.find(([each]) => fold(each) === fold(name)) ?? [];
    return found?.filter(({ family }) => family === 'IPv4').map(({ address }) => address);
  },
};
