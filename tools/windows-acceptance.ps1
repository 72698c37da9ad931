<#
.SYNOPSIS
  Checks on a real Windows node what Wine cannot show (docs/windows.md). Run it as an administrator, on a node without wins.
.DESCRIPTION
  Registers the service rancher-wins with its own config, checks it, and removes it. Prints one line for each probe, writes a transcript, and
  exits with the number of failed probes. `node tools/windows/acceptance.mjs FILE` checks and files a transcript for docs/windows.md. A
  transcript contains the version and digest of the program, the release of Windows, and messages with paths and accounts: read it before you
  commit it.
.PARAMETER Wins
  Executable under test, built by `npm run package`.
.PARAMETER Next
  Another release, for an upgrade and back. Without it, upgrades change only the arguments of the service.
.PARAMETER Server
  Rancher server that the node may join temporarily. Without it, joining is not checked.
.PARAMETER TokenFile
  File with a token of the server.
.PARAMETER CaChecksum
  SHA-256 digest of the authorities that the server has at /cacerts.
.PARAMETER Image
  Local image for process-isolated containers, with cmd.exe and of this release of Windows. Without it, containers are not tried.
.PARAMETER Transcript
  File for the transcript, as JSON.
.EXAMPLE
  .\windows-acceptance.ps1 -Wins C:\stage\wins.exe
#>
[CmdletBinding()]
param(
  [Parameter(Mandatory = $true)][string]$Wins,
  [string]$Next = $Wins,
  [string]$Server,
  [string]$TokenFile,
  [string]$CaChecksum,
  [string]$Image,
  [string]$Transcript = 'windows-acceptance.json'
)

Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$service = 'rancher-wins'
$system = Join-Path $env:SystemRoot 'System32'
$sc = Join-Path $system 'sc.exe'
$powershell = Join-Path $system 'WindowsPowerShell\v1.0\powershell.exe'
$environment = 'HKLM:\SYSTEM\CurrentControlSet\Control\Session Manager\Environment'
$folder = Join-Path $env:ProgramFiles "wins acceptance $(Get-Random)"
$containerUsers = 'ContainerAdministrator', 'ContainerUser'
# `npm run package` puts Rancher's install script beside the program. No other test runs it.
$installer = Join-Path (Split-Path $Wins) 'wins-agent-install.ps1'
$skipped = 'SKIPPED: '
$results = New-Object Collections.Generic.List[object]
$seen = [ordered]@{}

# Runs Probe-NAME, which fails if it throws or returns $false. tools/windows/acceptance.mjs states in words what it proves.
function Probe([string]$Name) {
  $script:seen = [ordered]@{}
  $result = 'ok'
  $why = ''
  try {
    # The verdict is the last value, after any output of programs.
    $found = @(& "Probe-$Name")
    if ($found.Count -gt 0 -and $found[-1] -is [bool] -and -not $found[-1]) { throw "it is not so: $found" }
  } catch {
    $why = $_.Exception.Message
    $result = if ($why.StartsWith($skipped)) { 'skipped' } else { 'failed' }
  }
  Note $Name $result $why
}
function Note([string]$Name, [string]$Result, [string]$Why) {
  $script:results.Add([ordered]@{ name = $Name; result = $Result; why = (Cut ($Why.Replace($skipped, ''))); seen = $script:seen })
  Write-Host "$($Result.PadRight(7)) $Name $Why"
}
function Skip([string]$Why) { throw "$skipped$Why" }
function Saw([string]$What, $Value) { $script:seen[$What] = Cut "$Value" }
function Cut([string]$Text) { if ($Text.Length -gt 500) { $Text.Substring(0, 500) } else { $Text } }

function WaitFor([string]$What, [scriptblock]$Holds) {
  $deadline = (Get-Date).AddSeconds(60)
  while (-not (& $Holds)) {
    if ((Get-Date) -gt $deadline) { throw "waited 60 s for: $What" }
    Start-Sleep -Milliseconds 200
  }
}

# Callers must quote `--`, because PowerShell removes a bare one.
function Client { & $script:exe cli @args; if ($LASTEXITCODE -ne 0) { throw "wins cli $args ended with $LASTEXITCODE" } }
# Returns both streams of a program as one line, and sets $LASTEXITCODE. Output on stderr does not stop this script.
function Said([string]$Program, [string[]]$Words) {
  $ErrorActionPreference = 'Continue'
  (& $Program @Words 2>&1 | ForEach-Object { "$_" }) -join ' '
}
function Refused([string]$Path, [string]$Why) {
  $said = Said $exe @('cli', 'prc', 'run', '--path', $Path)
  if ($LASTEXITCODE -eq 0) { throw "$Path ran" }
  if ($said -notmatch $Why) { throw "${Path}: it said $said; wanted $Why" }
}
function StartPing([int]$Times) {
  Start-Process $exe -PassThru -WindowStyle Hidden -ArgumentList @('cli', 'prc', 'run', '--path', "`"$ping`"", '--args', "`"-n $Times 127.0.0.1`"")
}
function Session { (Get-Process -Id $PID).SessionId }
# Runs a container with the program under test in C:\wins, and sets $LASTEXITCODE.
function InContainer([string]$User, [string]$Mount, [string[]]$Words) {
  if (-not $Image) { Skip 'no -Image was given' }
  $runtime = Get-Command -Name 'docker.exe', 'nerdctl.exe' -ErrorAction SilentlyContinue | Select-Object -First 1
  if (-not $runtime) { Skip 'there is neither docker nor nerdctl' }
  $options = @('run', '--rm', '--isolation', 'process', '--user', $User, '-v', "${folder}:C:\wins:ro", '-v', $Mount, $Image)
  Said $runtime.Source ($options + $Words)
}
function Allow([object[]]$Programs) {
  $text = @{ white_list = @{ processPaths = $Programs }; routes = @{ allow = @('203.0.113.64/28') } } | ConvertTo-Json -Depth 6
  [IO.File]::WriteAllText($config, $text)
}
# Runs subst as SYSTEM, because every session and the service see the drives of SYSTEM.
function SubstAsSystem([string]$Arguments, [scriptblock]$Done) {
  $task = "wins acceptance $(Get-Random)"
  $action = New-ScheduledTaskAction -Execute (Join-Path $system 'subst.exe') -Argument $Arguments
  $principal = New-ScheduledTaskPrincipal -UserId 'S-1-5-18' -LogonType ServiceAccount
  Register-ScheduledTask -TaskName $task -Action $action -Principal $principal | Out-Null
  try {
    Start-ScheduledTask -TaskName $task
    WaitFor "subst $Arguments" $Done
  } finally { Unregister-ScheduledTask -TaskName $task -Confirm:$false }
}
function ServicePid { (Get-CimInstance Win32_Service -Filter "Name='$service'").ProcessId }
function ServiceCommand { (Get-CimInstance Win32_Service -Filter "Name='$service'").PathName }
function Upgraded([string]$Program) {
  if (-not (ServiceCommand).StartsWith("`"$exe`"")) { throw "the service names $(ServiceCommand)" }
  if ((Get-FileHash $exe).Hash -ne (Get-FileHash $Program).Hash) { throw "$exe is not $Program" }
  $left = @(Get-ChildItem "$exe.upgrade" | Where-Object Name -NotMatch '^(lock|result\.json|upgrade\.log|record-.*\.json)$')
  if ($left.Count -gt 0) { throw "left behind: $($left.Name -join ', ')" }
  Client app info | Out-Null
}
function Rules { @(Get-NetFirewallRule -ErrorAction SilentlyContinue | Where-Object DisplayName -Like 'rancher-wins-*') }
# For installations, whose owners, protected access lists and dependencies Wine does not keep.
function MachinePath { (Get-Item $environment).GetValue('Path', '', 'DoNotExpandEnvironmentNames') }
function Roots { @(Get-ChildItem Cert:\LocalMachine\Root).Thumbprint }
function NeedScripts { if (-not (Test-Path $installer)) { Skip "there is no $installer" } }
# Runs the install script as Rancher does, with appended lines; exit code 9 means that it left a variable behind.
function Installed([hashtable]$Variables) {
  $file = Join-Path $env:ProgramFiles "wins-acceptance-$(Get-Random).ps1"
  $lines = 'Invoke-WinsInstaller @PSBoundParameters', 'if ($env:CATTLE_LABELS) { exit 9 }', 'exit 0'
  [IO.File]::WriteAllText($file, (@(Get-Content -Raw $installer) + $lines -join "`n"))
  $names = @($Variables.Keys)
  foreach ($name in $names) { [Environment]::SetEnvironmentVariable($name, $Variables[$name]) }
  try {
    & $powershell -NoProfile -ExecutionPolicy Bypass -File $file -Label 'a=b' | Out-Host
    if (@(Get-ChildItem (Join-Path $env:SystemRoot 'Temp') -Directory -Filter 'wins-*').Count -gt 0) { throw 'its folder is still there' }
    $LASTEXITCODE
  } finally {
    foreach ($name in $names) { [Environment]::SetEnvironmentVariable($name, $null) }
    Remove-Item -Force $file
  }
}

function Probe-serviceRegisters {
  & $exe srv app run --register --delayed-start --config $config
  $LASTEXITCODE -eq 0
}
function Probe-failureActions {
  $actions = (& $sc qfailure $service) -join ' '
  $actions -match '\b5000\b' -and $actions -match '\b10000\b' -and $actions -match '\b15000\b'
}
function Probe-failureFlag {
  ((& $sc qfailureflag $service) -join ' ') -match 'TRUE'
}
function Probe-startIsDelayed {
  ((& $sc qc $service) -join ' ') -match 'DELAYED'
}
function Probe-preshutdownTime {
  ((& $sc qpreshutdown $service) -join ' ') -match '45000'
}
function Probe-serviceStarts {
  Start-Service $service; $true
}
function Probe-doctorIsWell {
  & $exe doctor --config $config; $LASTEXITCODE -eq 0
}
function Probe-onCall {
  & $exe status --config $config | Out-Host
  if ($LASTEXITCODE -ne 0) { throw "wins status ended with $LASTEXITCODE" }
  ((& $exe logs) -join "`n") -match '"msg":"ready"'
}
function Closed([string]$Name) {
  $pipe = New-Object IO.Pipes.NamedPipeClientStream('.', $Name, 'InOut')
  $pipe.Connect(5000)
  # Later versions than Windows PowerShell have only the extension method.
  $access = if ($PSVersionTable.PSVersion.Major -le 5) { $pipe.GetAccessControl() } else { [IO.Pipes.PipesAclExtensions]::GetAccessControl($pipe) }
  $rules = @($access.GetAccessRules($true, $true, [Security.Principal.SecurityIdentifier]))
  $pipe.Dispose()
  if ($rules.Count -eq 0) { throw "$Name has no access list" }
  $others = @($rules | Where-Object { $_.IdentityReference.Value -notin 'S-1-5-18', 'S-1-5-32-544' })
  if ($others.Count -gt 0) { throw "$Name is open to $($others.IdentityReference.Value -join ', ')" }
}
function Probe-pipesAreClosed {
  foreach ($name in 'rancher_wins', 'rancher_wins_proxy', 'rancher_wins_admin') { Closed $name }
}
function Probe-userIsRefused {
  $name = "wins$(Get-Random -Maximum 99999)"
  $password = ConvertTo-SecureString "$([Guid]::NewGuid())aA1!" -AsPlainText -Force
  New-LocalUser $name -Password $password | Out-Null
  try {
    $user = New-Object Management.Automation.PSCredential $name, $password
    # The second command asks the administrators' pipe first. If that denies access, it tries no other pipe.
    $wanted = [ordered]@{ 'cli app info' = 125; 'srv config reload --server rancher_wins' = 77 }
    foreach ($words in $wanted.Keys) {
      $run = Start-Process $exe -PassThru -Wait -Credential $user -WorkingDirectory $env:SystemRoot -ArgumentList $words
      if ($run.ExitCode -ne $wanted[$words]) { throw "wins $words ended with $($run.ExitCode)" }
    }
  } finally { Remove-LocalUser $name }
}
function Probe-administratorHere {
  Saw 'session' (Session)
  $said = Said $exe @('srv', 'config', 'reload', '--config', $config)
  if ($LASTEXITCODE -ne 0) { throw "srv config reload ended with ${LASTEXITCODE}: $said" }
  $run = StartPing 600
  WaitFor 'the program' { Get-Process rancher-wins-ping -ErrorAction SilentlyContinue }
  $said = Said $exe @('cli', 'prc', 'stop', '--now', 'rancher-wins-ping')
  Saw 'prc stop --now of a run of another client' "exit code ${LASTEXITCODE}: $said"
  if ($LASTEXITCODE -ne 0) { Client prc stop rancher-wins-ping | Out-Null }
  $run.WaitForExit()
}
function Probe-secondDaemon {
  & $exe srv app run --config $config
  if ($LASTEXITCODE -eq 0) { throw 'it served' }
  Client app info | Out-Null
}
function Probe-firewallRules {
  $run = Start-Process $exe -PassThru -WindowStyle Hidden -ArgumentList @('cli', 'prc', 'run', '--path', "`"$ping`"", '--exposes', '"TCP:64001 UDP:64002"', '--args', '"-n 10 127.0.0.1"')
  WaitFor 'two rules' { @(Rules).Count -ge 2 }
  $run.WaitForExit()
  WaitFor 'no rule' { @(Rules).Count -eq 0 }
}
function Probe-firewallOff {
  $before = @(Get-NetFirewallProfile)
  Set-NetFirewallProfile -All -Enabled False
  try {
    $said = Said $exe @('cli', 'prc', 'run', '--path', $ping, '--exposes', 'TCP:64001', '--args', '-n 1 127.0.0.1')
    if ($LASTEXITCODE -ne 0) { throw "it ended with ${LASTEXITCODE}: $said" }
    if ($said -notmatch 'no port was opened, because') { throw "it said: $said" }
    @(Rules).Count -eq 0
  } finally { foreach ($one in $before) { Set-NetFirewallProfile -Name $one.Name -Enabled $one.Enabled } }
}
function Probe-runsAreFound {
  $run = StartPing 600
  try {
    WaitFor 'the run' { @(Get-CimInstance Win32_Process -Filter "CommandLine LIKE '%rancher-wins-ping%'").Count -gt 0 }
  } finally {
    Client prc stop rancher-wins-ping | Out-Null
    $run.WaitForExit()
  }
}
function Probe-detachedRuns {
  Client prc run -d --name acceptance --path $kept '--' -n 600 127.0.0.1 | Out-Null
  $pipes = @([IO.Directory]::GetFiles('\\.\pipe\') | Split-Path -Leaf | Where-Object { $_ -like 'rancher_wins_keeper_*' })
  if ($pipes.Count -ne 1) { throw "there are $($pipes.Count) pipes of keepers" }
  Closed $pipes[0]
  $before = (Get-Process rancher-wins-kept).Id
  Restart-Service $service
  if ((Get-Process rancher-wins-kept).Id -ne $before) { throw 'it did not outlive the service' }
  Client prc rm acceptance | Out-Null
  WaitFor 'its end' { -not (Get-Process rancher-wins-kept -ErrorAction SilentlyContinue) }
}
function Probe-routes {
  foreach ($prefix in '203.0.113.77/32', '203.0.113.64/29') {
    foreach ($time in 1, 2) { Client route add --addresses $prefix }
    if (@(Get-NetRoute -DestinationPrefix $prefix).Count -ne 1) { throw "$prefix is not there once" }
    Client route rm --addresses $prefix
    if (@(Get-NetRoute -DestinationPrefix $prefix -ErrorAction SilentlyContinue).Count -ne 0) { throw "$prefix is still there" }
  }
  $true
}
function Probe-hnsNetworks {
  if (-not (Get-Command Get-HnsNetwork -ErrorAction SilentlyContinue)) { Skip 'there is no Get-HnsNetwork' }
  foreach ($network in Get-HnsNetwork) {
    if (((Client hns get-network --name $network.Name) -join "`n") -notmatch $network.ID) { throw "$($network.Name) is not $($network.ID)" }
  }
}
# Needs an adapter that an operator added (docs/host-network.md).
function Probe-containerNetwork {
  $inside = 'vEthernet (wins-subnet)'
  $before = Get-NetAdapter -Name 'wins-subnet' -ErrorAction SilentlyContinue
  if (-not $before) { Skip 'there is no loopback adapter wins-subnet' }
  function Network([string]$Act) { Said $exe @('srv', 'network', $Act, '--config', $config) }
  function Filters {
    $file = Join-Path $folder 'filters.xml'
    & (Join-Path $system 'netsh.exe') wfp show filters "file=$file" verbose=on | Out-Null
    @(Select-String -Path $file -SimpleMatch 'wins-subnet ingress', 'wins-subnet egress').Count
  }
  function Forwards {
    $names = Get-NetIPInterface -AddressFamily IPv4 | Where-Object { $_.Forwarding -eq 'Enabled' } | ForEach-Object { $_.InterfaceAlias }
    @($names) -join ', '
  }
  $forwarding = Forwards
  $network = @{ subnet = '10.213.77.0/24'; cluster = @('10.213.0.0/16') }
  $text = @{ white_list = @{ processPaths = $programs }; hostNetwork = $network } | ConvertTo-Json -Depth 6
  try {
    [IO.File]::WriteAllText($config, $text)
    Restart-Service $service
    $said = Network 'apply'
    if ($LASTEXITCODE -ne 0) { throw "apply: $said" }
    foreach ($time in 1, 2) {
      $hns = @(Get-HnsNetwork | Where-Object Name -EQ 'wins-subnet')
      if ($hns.Count -ne 1 -or $hns[0].Type -ne 'Transparent') { throw "HNS has $($hns.Count) networks of the name" }
      if (-not (Get-NetIPAddress -InterfaceAlias $inside -IPAddress '10.213.77.1' -ErrorAction SilentlyContinue)) { throw 'there is no gateway' }
      if ((Get-NetIPInterface -InterfaceAlias $inside -AddressFamily IPv4).Forwarding -ne 'Enabled') { throw 'it does not forward' }
      # Six filters for each direction.
      if ((Filters) -ne 12) { throw "there are $(Filters) filters" }
      if ($time -eq 1) {
        # HNS does not store the network, so the daemon must create it again.
        Restart-Service hns -Force
        Start-Sleep -Seconds 2
        Saw 'networks after a restart of HNS' @(Get-HnsNetwork | Where-Object Name -EQ 'wins-subnet').Count
        $said = Network 'apply'
        if ($LASTEXITCODE -ne 0) { throw "apply after a restart of HNS: $said" }
      }
    }
  } finally {
    $said = Network 'teardown'
    Allow $programs
    Restart-Service $service
  }
  if (@(Get-HnsNetwork | Where-Object Name -EQ 'wins-subnet').Count -ne 0) { throw "HNS has it still: $said" }
  WaitFor 'the adapter is back' { @(Get-NetAdapter -Name 'wins-subnet' -ErrorAction SilentlyContinue | Where-Object Status -EQ $before.Status).Count -eq 1 }
  if ((Filters) -ne 0) { throw "there are $(Filters) filters left" }
  if ((Forwards) -ne $forwarding) { throw "it forwards by $(Forwards); before: $forwarding" }
}
function Probe-oddPaths {
  $junction = Join-Path $folder 'junction'
  $linked = Join-Path $junction 'ping.exe'
  $drive = 'W', 'X', 'Y', 'Z' | Where-Object { -not [IO.Directory]::Exists("${_}:\") } | Select-Object -First 1
  $lent = "${drive}:\ping.exe"
  New-Item -ItemType Junction $junction -Target $folder | Out-Null
  try {
    SubstAsSystem "${drive}: `"$folder`"" { [IO.File]::Exists($lent) }
    Allow ($programs + $linked + $lent)
    Restart-Service $service
    Refused $linked 'a link or a junction'
    Refused $lent 'it opens'
    # If the volume has no short names, only a name of that form is tried.
    $short = (New-Object -ComObject Scripting.FileSystemObject).GetFile($ping).ShortPath
    if ($short -notmatch '~\d') {
      $short = Join-Path $folder 'PING~1.EXE'
      Copy-Item $ping $short
    }
    Refused $short 'A3 short'
    Refused ('\\?\' + $ping) 'A4 device namespace'
  } finally {
    [IO.Directory]::Delete($junction)
    SubstAsSystem "${drive}: /D" { -not [IO.File]::Exists($lent) }
    Allow $programs
    Restart-Service $service
  }
  Client prc run --path $ping --args '-n 1 127.0.0.1' | Out-Null
}
function Probe-etwProvider {
  # The provider of the Go releases. .NET writes to the session as EventWriteString does.
  if ($null -eq ('System.Diagnostics.Eventing.EventProvider' -as [type])) { Skip 'this needs Windows PowerShell 5.1' }
  $provider = '5576fd67-6511-5769-010b-45638098b239'
  $text = "wins acceptance $(Get-Random)"
  $session = "wins-acceptance-$(Get-Random)"
  $logman = Join-Path $system 'logman.exe'
  & $logman create trace $session -p "{$provider}" '0xffffffffffffffff' '0xff' -o (Join-Path $folder 'etw.etl') -ets | Out-Null
  if ($LASTEXITCODE -ne 0) { throw "logman ended with $LASTEXITCODE" }
  $writer = New-Object Diagnostics.Eventing.EventProvider ([Guid]$provider)
  try {
    $isEnabled = $writer.IsEnabled()
    Saw 'the session enables the provider' $isEnabled
    if (-not $writer.WriteMessageEvent($text)) { throw 'the string was not taken' }
  } finally {
    $writer.Dispose()
    & $logman stop $session -ets | Out-Null
  }
  $file = (Get-ChildItem $folder -Filter 'etw*.etl' | Select-Object -First 1).FullName
  $count = @(Get-WinEvent -Path $file -Oldest | Where-Object { $_.ProviderId -eq $provider }).Count
  Saw 'events of the provider' $count
  $bytes = [IO.File]::ReadAllBytes($file)
  $unicode = [Text.Encoding]::Unicode
  $unicode.GetString($bytes).Contains($text) -or $unicode.GetString($bytes, 1, $bytes.Length - 1).Contains($text)
}
function Probe-containerOwner {
  $shared = Join-Path $folder 'shared'
  New-Item -ItemType Directory -Force $shared | Out-Null
  foreach ($user in $containerUsers) {
    $said = InContainer $user "${shared}:C:\shared" @('cmd', '/c', "copy C:\Windows\System32\cmd.exe C:\shared\$user.exe")
    $file = Join-Path $shared "$user.exe"
    if (-not (Test-Path $file)) {
      Saw "copy by $user" "exit code ${LASTEXITCODE}: $said"
      continue
    }
    $acl = Get-Acl $file
    $owner = $acl.GetOwner([Security.Principal.SecurityIdentifier]).Value
    Saw "owner of a copy by $user" $owner
    Saw "security of a copy by $user" $acl.Sddl
    Saw "verdict about a copy by $user" (Said $exe @('srv', 'config', 'explain', '--config', $config, '--path', $file))
  }
}
function Probe-containerPipes {
  $commands = [ordered]@{
    'rancher_wins' = @('cli', 'app', 'info')
    'rancher_wins_admin' = @('srv', 'config', 'reload', '--server', 'rancher_wins')
  }
  $opened = @()
  foreach ($user in $containerUsers) {
    foreach ($pipe in $commands.Keys) {
      $said = InContainer $user "\\.\pipe\${pipe}:\\.\pipe\$pipe" (@('C:\wins\wins.exe') + $commands[$pipe])
      Saw "$user at $pipe" "exit code ${LASTEXITCODE}: $said"
      if ($LASTEXITCODE -eq 0 -and ($pipe -eq 'rancher_wins_admin' -or $user -eq 'ContainerUser')) { $opened += "$user has opened $pipe" }
    }
  }
  if ($opened.Count -gt 0) { throw ($opened -join '; ') }
}
function Probe-killedService {
  $run = StartPing 600
  WaitFor 'the program' { Get-Process rancher-wins-ping -ErrorAction SilentlyContinue }
  $old = ServicePid
  Stop-Process -Id $old -Force
  WaitFor 'the end of the tree' { -not (Get-Process rancher-wins-ping -ErrorAction SilentlyContinue) }
  WaitFor 'the service' { $new = ServicePid; $new -ne 0 -and $new -ne $old }
  $run.WaitForExit()
}
function Probe-upgradeFromOutside {
  & $Next up --wins-args '--debug'
  if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
  Upgraded $Next
}
function Probe-upgradeBack {
  & $Wins up --allow-downgrade --wins-args '--debug=false'
  if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
  Upgraded $Wins
}
function Probe-registrationStays {
  $before = ServiceCommand
  Copy-Item $Next $helper -Force
  & $exe cli prc run --path $helper '--' up --json --wins-args "--config `"$config`" --quiet" | Out-Null
  $LASTEXITCODE -eq 65 -and (ServiceCommand) -eq $before
}
function Probe-upgradeThroughDaemon {
  Client prc run --path $helper '--' up --json | Out-Null
  WaitFor 'its result' { (Get-Content "$exe.upgrade\result.json" -Raw | ConvertFrom-Json).to.sha256 -eq (Get-FileHash $Next).Hash }
  Upgraded $Next
}
function Probe-upgradeByClient {
  & $Wins up --allow-downgrade
  Upgraded $Wins
  Client upgrade --path $helper
  Upgraded $Next
}
function Probe-upgradeFolder {
  $rules = @((Get-Acl "$exe.upgrade").GetAccessRules($true, $true, [Security.Principal.SecurityIdentifier]))
  $rules.Count -gt 0 -and @($rules | Where-Object { $_.IdentityReference.Value -notin 'S-1-5-18', 'S-1-5-32-544' }).Count -eq 0
}
function Probe-heldProgram {
  if ((Get-FileHash $Wins).Hash -eq (Get-FileHash $exe).Hash) { Skip 'no other release was given by -Next' }
  # Locks the file against writing, renaming and removal, like a virus scanner.
  $held = [IO.File]::Open($exe, 'Open', 'Read', 'Read')
  try {
    $said = Said $Wins @('up', '--allow-downgrade', '--wait', '30s')
    Saw 'wins up' "exit code ${LASTEXITCODE}: $said"
  } finally { $held.Dispose() }
  Client app info --wait-timeout 1m | Out-Null
}
function Probe-eventsAreReadable {
  $events = Get-WinEvent -FilterHashtable @{ LogName = 'Application'; ProviderName = $service; StartTime = $begun } -MaxEvents 5
  if ($events.Message -match 'description for Event ID') { throw 'their texts are missing' }
}
function Probe-wrongConfig {
  Stop-Service $service
  [IO.File]::WriteAllText($config, 'white_list: [')
  try { Start-Service $service; throw 'it started' } catch { if ($_.Exception.Message -eq 'it started') { throw } }
  @(Get-WinEvent -FilterHashtable @{ LogName = 'System'; ProviderName = 'Service Control Manager'; Id = 7024; StartTime = $begun } -MaxEvents 1).Count -eq 1
}
function Probe-installDryRun {
  & $Wins install --dry-run
  if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
  (MachinePath) -eq $pathBefore -and -not (Get-Service $service -ErrorAction SilentlyContinue)
}
function Probe-installInTime {
  & $Wins install
  if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
  @(Get-WinEvent -FilterHashtable @{ LogName = 'System'; ProviderName = 'Service Control Manager'; Id = 7000, 7009; StartTime = $begun } -ErrorAction SilentlyContinue).Count -eq 0
}
function Probe-installedOwners {
  foreach ($place in 'C:\etc\rancher\wins', 'C:\etc\rancher\wins\config', 'C:\var\lib\rancher\agent') {
    $acl = Get-Acl $place
    if (-not $acl.AreAccessRulesProtected) { throw "$place inherits" }
    if ($acl.GetOwner([Security.Principal.SecurityIdentifier]).Value -ne 'S-1-5-32-544') { throw "$place is owned by $($acl.Owner)" }
    $others = @($acl.GetAccessRules($true, $true, [Security.Principal.SecurityIdentifier]) | Where-Object { $_.IdentityReference.Value -notin 'S-1-5-18', 'S-1-5-32-544' })
    if ($others.Count -gt 0) { throw "$place is open to $($others.IdentityReference.Value -join ', ')" }
  }
}
function Probe-machinePath {
  & $Wins install
  if ((Get-Item $environment).GetValueKind('Path') -ne $kindBefore) { throw 'it has another type' }
  @((MachinePath) -split ';' | Where-Object { $_ -eq 'C:\usr\local\bin' }).Count -eq 1
}
function Probe-sucDependency {
  & $sc create rke2 binPath= "$system\svchost.exe" | Out-Null
  try {
    foreach ($wanted in 'true', 'false') {
      $env:CATTLE_ENABLE_WINS_SERVICE_DEPENDENCY = $wanted
      & $Wins suc
      if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
      $isThere = ((& $sc qc rke2) -join ' ') -match $service
      if ($isThere -ne ($wanted -eq 'true')) { throw "with $wanted the dependency is there: $isThere" }
    }
  } finally {
    $env:CATTLE_ENABLE_WINS_SERVICE_DEPENDENCY = $null
    & $sc delete rke2 | Out-Null
  }
}
function Probe-sucRestarts {
  # A second daemon plays the service rke2.
  New-Item -ItemType Directory -Force $folder | Out-Null
  $other = Join-Path $folder 'rke2.config'
  [IO.File]::WriteAllText($other, '{"listen":"wins_acceptance_rke2","proxy":"wins_acceptance_rke2_proxy"}')
  $linked = { ((& $sc qc rke2) -join ' ') -match $service }
  & $sc create rke2 binPath= "\`"$Wins\`" srv app run --config \`"$other\`"" depend= $service | Out-Null
  try {
    Start-Service rke2
    foreach ($debug in 'true', 'false') {
      $before = (Get-CimInstance Win32_Service -Filter "Name='$service'").ProcessId
      $env:CATTLE_WINS_DEBUG = $debug
      if ($debug -eq 'false') {
        $job = Start-Process -PassThru -NoNewWindow $Wins suc
        WaitFor 'a link that is lifted' { -not (& $linked) }
        Stop-Process -Force -Id $job.Id
      }
      & $Wins suc
      if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
      if (-not (& $linked)) { throw 'the link is gone' }
      if ((Get-Service rke2).Status -ne 'Running') { throw 'rke2 has ended' }
      if ((Get-CimInstance Win32_Service -Filter "Name='$service'").ProcessId -eq $before) { throw 'the daemon was not restarted' }
    }
  } finally {
    $env:CATTLE_WINS_DEBUG = $null
    Stop-Service rke2
    & $sc delete rke2 | Out-Null
    Remove-Item -Recurse -Force $folder
  }
}
function Probe-nodeJoins {
  if (-not $Server) { Skip 'no -Server was given' }
  & $Wins join --server $Server --token-file $TokenFile --ca-checksum $CaChecksum --worker
  if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
  if (Compare-Object $rootsBefore (Roots)) { throw 'the root store has changed' }
  & $Wins join --server $Server --token-file $TokenFile --ca-checksum $CaChecksum --worker --trust-machine
  $LASTEXITCODE -eq 0
}
function Probe-hostProcessImage {
  if (-not $env:CONTAINER_SANDBOX_MOUNT_POINT) { Skip 'this is no HostProcess container' }
  & wins-suc.exe suc --dry-run
  $LASTEXITCODE -eq 0
}
function Probe-uninstall {
  & $Wins uninstall
  if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
  if (Compare-Object $rootsBefore (Roots)) { throw 'the root store has changed' }
  if (Test-Path 'C:\etc\rancher\wins') { throw 'the folder of the config is still there' }
  (MachinePath) -eq $pathBefore -and -not (Get-Service $service -ErrorAction SilentlyContinue)
}
function Probe-scriptRefuses {
  NeedScripts
  if ((Installed ($alone + @{ CATTLE_AGENT_BINARY_CHECKSUM = '0' * 64 })) -ne 1) { throw 'another digest was taken' }
  foreach ($url in 'http://127.0.0.1/wins.exe', 'https://user:x@127.0.0.1/wins.exe', "https://127.0.0.1/`"`noutput = `"C:\x") {
    if ((Installed ($digest + @{ CATTLE_AGENT_BINARY_URL = $url })) -ne 1) { throw "it took $url" }
  }
  -not (Get-Service $service -ErrorAction SilentlyContinue)
}
function Probe-scriptInstalls {
  NeedScripts
  $code = Installed ($alone + $digest)
  if ($code -ne 0) { throw "it ended with $code" }
  (Get-Service $service).Status -eq 'Running'
}
function Probe-scriptUninstalls {
  NeedScripts
  & $powershell -NoProfile -ExecutionPolicy Bypass -File (Join-Path (Split-Path $Wins) 'wins-agent-uninstall.ps1') | Out-Host
  if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
  (MachinePath) -eq $pathBefore -and -not (Get-Service $service -ErrorAction SilentlyContinue)
}

if (Get-Service $service -ErrorAction SilentlyContinue) { throw "the service $service exists: this is no node for tests" }
New-Item -ItemType Directory $folder | Out-Null
$exe = Join-Path $folder 'wins.exe'
$ping = Join-Path $folder 'ping.exe'
$config = Join-Path $folder 'config file'
$begun = Get-Date
Copy-Item $Wins $exe
Copy-Item (Join-Path $system 'PING.EXE') $ping
$kept = Join-Path $folder 'kept.exe'
Copy-Item $ping $kept
$helper = Join-Path $folder 'wins-upgrade.exe'
Copy-Item $Wins $helper
$programs = @($ping, @{ path = $helper; mayBreakAway = $true }, @{ path = $kept; detached = @{ allow = $true } })
Allow $programs
$pathBefore = MachinePath
$kindBefore = (Get-Item $environment).GetValueKind('Path')
$rootsBefore = Roots
$alone = @{ CATTLE_REMOTE_ENABLED = 'false'; CATTLE_LOCAL_ENABLED = 'true'; CATTLE_AGENT_BINARY_LOCAL = 'true'; CATTLE_AGENT_BINARY_LOCAL_LOCATION = $Wins }
$digest = @{ CATTLE_AGENT_BINARY_CHECKSUM = (Get-FileHash $Wins).Hash }

try {
  try {
    Probe 'serviceRegisters'
    Probe 'failureActions'
    Probe 'failureFlag'
    Probe 'startIsDelayed'
    Probe 'preshutdownTime'
    Probe 'serviceStarts'
    Probe 'doctorIsWell'
    Probe 'onCall'
    Probe 'pipesAreClosed'
    Probe 'userIsRefused'
    Probe 'administratorHere'
    Probe 'secondDaemon'
    Probe 'firewallRules'
    Probe 'firewallOff'
    Probe 'runsAreFound'
    Probe 'detachedRuns'
    Probe 'routes'
    Probe 'hnsNetworks'
    Probe 'containerNetwork'
    Probe 'oddPaths'
    Probe 'etwProvider'
    Probe 'containerOwner'
    Probe 'containerPipes'
    Probe 'killedService'
    Probe 'upgradeFromOutside'
    Probe 'upgradeBack'
    Probe 'registrationStays'
    Probe 'upgradeThroughDaemon'
    Probe 'upgradeByClient'
    Probe 'upgradeFolder'
    Probe 'heldProgram'
    Probe 'eventsAreReadable'
    Probe 'wrongConfig'
  } finally {
    & $exe srv app run --unregister
    Remove-Item -Recurse -Force $folder -ErrorAction SilentlyContinue
  }
  try {
    Probe 'installDryRun'
    Probe 'installInTime'
    Probe 'installedOwners'
    Probe 'machinePath'
    Probe 'sucDependency'
    Probe 'sucRestarts'
    Probe 'nodeJoins'
    Probe 'hostProcessImage'
  } finally {
    Probe 'uninstall'
  }
  try {
    Probe 'scriptRefuses'
    Probe 'scriptInstalls'
  } finally {
    Probe 'scriptUninstalls'
  }
} finally {
  foreach ($function in Get-ChildItem function:Probe-*) {
    $name = $function.Name -replace '^Probe-'
    $script:seen = [ordered]@{}
    if (@($results | Where-Object { $_.name -eq $name }).Count -eq 0) { Note $name 'skipped' 'the script ended before it' }
  }
  $windows = Get-CimInstance Win32_OperatingSystem
  $update = (Get-ItemProperty 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion').UBR
  $document = [ordered]@{
    form = 'wins-windows-acceptance/1'
    date = $begun.ToUniversalTime().ToString("yyyy-MM-dd'T'HH:mm:ss'Z'")
    system = [ordered]@{ caption = $windows.Caption; version = "$($windows.Version).$update"; powershell = "$($PSVersionTable.PSVersion)"; session = "$(Session)" }
    wins = [ordered]@{ version = "$(& $Wins --version)"; sha256 = (Get-FileHash $Wins).Hash.ToLowerInvariant() }
    probes = $results.ToArray()
  }
  $file = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Transcript)
  [IO.File]::WriteAllText($file, ($document | ConvertTo-Json -Depth 5))
}
$failed = @($results | Where-Object { $_.result -eq 'failed' }).Count
Write-Host "$failed failed; the transcript is $file"
exit $failed
