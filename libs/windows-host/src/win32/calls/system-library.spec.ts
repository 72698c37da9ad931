import { loadSystemLibrary } from './system-library.js';

it('says that Windows is needed when it is called elsewhere', () => {
  const message = `called Windows: this is ${process.platform}; it is there on win32 only`;
  expect(() => loadSystemLibrary('kernel32.dll')).toThrow(message);
});
