import { cleanerOf, makeMember } from '@wins/support-bundle';

const clean = cleanerOf(['a-token']);
const make = () => Promise.resolve('sent a-token to https://user:word@host/path?key=value\n');
const { name, content } = await makeMember({ name: 'log.txt', maxBytes: 1024, make }, clean);
console.log(name, String(content).trim());

const failing = () => Promise.reject(new Error('found no log'));
const failed = await makeMember({ name: 'log.txt', maxBytes: 1024, make: failing }, clean);
console.log(failed.name, String(failed.content).trim());
