import { foldAscii, type ParsedPath } from './parsed-path.js';

// Interpreters, and tools that start programs, load libraries or write files where their arguments say.
const TOOLS = new RegExp(
  '^(?:(?:rancher-)?wins|powershell|pwsh|cmd|bash|dash|zsh|ksh|fish|sh|busybox|python[0-9.]*|pythonw|pypy[0-9.]*|py|node|nodejs|' +
    'deno|bun|perl[0-9.]*|ruby[0-9.]*|php[0-9.]*|lua[0-9.]*|tclsh[0-9.]*|java|javaw|dotnet|awk|gawk|mawk|sed|find|xargs|env|' +
    'sudo|su|ssh|scp|rsync|git|tar|bsdtar|zip|unzip|7z|curl|wget|vi|vim|make|systemctl|docker|ctr|nerdctl|crictl|kubectl|' +
    'msiexec|rundll32|regsvr32|regasm|regsvcs|installutil|msbuild|mshta|wscript|cscript|certutil|bitsadmin|wmic|sc|net|' +
    'netsh|reg|schtasks|at|forfiles|cmstp|odbcconf|pcalua|hh|dism|psexec)$',
);

/** Whether a program is known to run code, or to write files, that its arguments name. By its name alone: a hint, no verdict. */
export function isKnownTool({ baseName }: ParsedPath): boolean {
  return TOOLS.test(foldAscii(baseName).replace(/\.(?:exe|com)$/, ''));
}
