import { systemLibrary } from './system-library.js';

it('says that Windows is needed when it is called elsewhere', () => {
  const message = `called Windows: this is ${process.platform}; it is there on win32 only`;
  const library = systemLibrary('kernel32.dll', ['uint32_t GetLastError()']);
  expect(() => library.GetLastError()).toThrow(message);
});
