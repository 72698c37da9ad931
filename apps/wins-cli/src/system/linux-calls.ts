export { readerProbe } from '@wins/linux-host';
