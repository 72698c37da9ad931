import { systemLibrary } from './system-library.js';

it('says that Windows is needed when it is called elsewhere', () => {
  const message = `cannot call Windows: this is ${process.platform}`;
  const library = systemLibrary('kernel32.dll', 'Windows', ['uint32_t GetLastError()']);
  expect(() => library.GetLastError()).toThrow(message);
});
