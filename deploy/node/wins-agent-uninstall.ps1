<#
.SYNOPSIS
  Removes the installation of wins from this node: docs/install.md.
.DESCRIPTION
  Without -Force, items that were changed since the installation stay, and are listed.
#>
param([switch]$KeepData, [switch]$Force)
$ErrorActionPreference = 'Stop'
$prefix = if ($env:CATTLE_AGENT_BIN_PREFIX) { $env:CATTLE_AGENT_BIN_PREFIX } else { 'C:\usr\local' }
$wins = Join-Path $prefix 'bin\wins.exe'
if (-not (Test-Path -LiteralPath $wins -PathType Leaf)) {
    [Console]::Error.WriteLine("wins-agent-uninstall: cannot uninstall wins: $wins does not exist; if wins is in another folder, set CATTLE_AGENT_BIN_PREFIX")
    exit 1
}
$options = @()
if ($KeepData) { $options += '--keep-data' }
if ($Force) { $options += '--force' }
& $wins uninstall @options
exit $LASTEXITCODE
