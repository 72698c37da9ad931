<#
.SYNOPSIS
  Checks on a real Windows node what Wine cannot show (docs/windows.md). Run it as an administrator, on a node without wins.
.DESCRIPTION
  Registers the service rancher-wins with a config of its own, checks it, and removes it. Prints one line for each check and
  ends with the number of those that failed.
.PARAMETER Wins
  The executable under test, made by `npm run package`.
.PARAMETER Next
  Another release of it, to upgrade to and back. Without one, upgrades change the arguments of the service only.
.PARAMETER Server
  A Rancher server that the node may join, for a moment. Without one, joining is not checked.
.PARAMETER TokenFile
  A file with a token of it.
.PARAMETER CaChecksum
  The SHA-256 digest of what it has at /cacerts.
.EXAMPLE
  .\windows-acceptance.ps1 -Wins C:\stage\wins.exe
#>
[CmdletBinding()]
param(
  [Parameter(Mandatory = $true)][string]$Wins,
  [string]$Next = $Wins,
  [string]$Server,
  [string]$TokenFile,
  [string]$CaChecksum
)

Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$service = 'rancher-wins'
$system = Join-Path $env:SystemRoot 'System32'
$sc = Join-Path $system 'sc.exe'
$folder = Join-Path $env:ProgramFiles "wins acceptance $(Get-Random)"
$failed = 0

function Check([string]$What, [scriptblock]$Test) {
  try {
    # What programs print comes before the verdict.
    $found = @(& $Test)
    if ($found.Count -gt 0 -and $found[-1] -is [bool] -and -not $found[-1]) { throw "it is not so: $found" }
    Write-Host "ok      $What"
  } catch {
    $script:failed++
    Write-Host "FAILED  ${What}: $($_.Exception.Message)"
  }
}

function WaitFor([string]$What, [scriptblock]$Holds) {
  $deadline = (Get-Date).AddSeconds(60)
  while (-not (& $Holds)) {
    if ((Get-Date) -gt $deadline) { throw "waited 60 s for: $What" }
    Start-Sleep -Milliseconds 200
  }
}

# Of its arguments `--` must be in quotes: PowerShell keeps a bare one for itself.
function Client { & $script:exe cli @args; if ($LASTEXITCODE -ne 0) { throw "wins cli $args ended with $LASTEXITCODE" } }
function Refused([string]$Path, [string]$Why) {
  # What a program writes to stderr is no error of this script.
  $ErrorActionPreference = 'Continue'
  $said = (& $exe cli prc run --path $Path 2>&1 | ForEach-Object { "$_" }) -join ' '
  if ($LASTEXITCODE -eq 0) { throw "$Path ran" }
  if ($said -notmatch $Why) { throw "${Path}: it said $said; wanted $Why" }
}
function Allow([object[]]$Programs) {
  $text = @{ white_list = @{ processPaths = $Programs }; routes = @{ allow = @('203.0.113.64/28') } } | ConvertTo-Json -Depth 4
  [IO.File]::WriteAllText($config, $text)
}
# A drive that every session sees, as the service must: drives of SYSTEM are of that kind.
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

if (Get-Service $service -ErrorAction SilentlyContinue) { throw "the service $service exists: this is no node for tests" }
New-Item -ItemType Directory $folder | Out-Null
$exe = Join-Path $folder 'wins.exe'
$ping = Join-Path $folder 'ping.exe'
$config = Join-Path $folder 'config file'
$begun = Get-Date
Copy-Item $Wins $exe
Copy-Item (Join-Path $system 'PING.EXE') $ping
$helper = Join-Path $folder 'wins-upgrade.exe'
Copy-Item $Wins $helper
$programs = @($ping, @{ path = $helper; mayBreakAway = $true })
Allow $programs

try {
  Check 'the service is registered, late, with a config in a folder with blanks' {
    & $exe srv app run --register --delayed-start --config $config
    $LASTEXITCODE -eq 0
  }
  Check 'failure actions restart after 5, 10 and 15 s' {
    $actions = (& $sc qfailure $service) -join ' '
    $actions -match '\b5000\b' -and $actions -match '\b10000\b' -and $actions -match '\b15000\b'
  }
  Check 'an end with an error is a failure' { ((& $sc qfailureflag $service) -join ' ') -match 'TRUE' }
  Check 'the start is delayed' { ((& $sc qc $service) -join ' ') -match 'DELAYED' }
  Check 'the preshutdown time is 45 s' { ((& $sc qpreshutdown $service) -join ' ') -match '45000' }
  Check 'the service starts' { Start-Service $service; $true }
  Check 'wins doctor finds nothing wrong' { & $exe doctor --config $config; $LASTEXITCODE -eq 0 }
  Check 'only Administrators and SYSTEM may open the pipes' {
    foreach ($name in 'rancher_wins', 'rancher_wins_proxy') {
      $pipe = New-Object IO.Pipes.NamedPipeClientStream('.', $name, 'InOut')
      $pipe.Connect(5000)
      # Windows PowerShell has it as a method, later ones as an extension.
      $access = if ($PSVersionTable.PSVersion.Major -le 5) { $pipe.GetAccessControl() } else { [IO.Pipes.PipesAclExtensions]::GetAccessControl($pipe) }
      $rules = @($access.GetAccessRules($true, $true, [Security.Principal.SecurityIdentifier]))
      $pipe.Dispose()
      if ($rules.Count -eq 0) { throw "$name has no access list" }
      $others = @($rules | Where-Object { $_.IdentityReference.Value -notin 'S-1-5-18', 'S-1-5-32-544' })
      if ($others.Count -gt 0) { throw "$name is open to $($others.IdentityReference.Value -join ', ')" }
    }
  }
  Check 'a second daemon ends with an error, and the first is unharmed' {
    & $exe srv app run --config $config
    if ($LASTEXITCODE -eq 0) { throw 'it served' }
    Client app info | Out-Null
  }
  Check 'a program runs, with its firewall rules, and they go with it' {
    $run = Start-Process $exe -PassThru -WindowStyle Hidden -ArgumentList @('cli', 'prc', 'run', '--path', "`"$ping`"", '--exposes', '"TCP:64001 UDP:64002"', '--args', '"-n 10 127.0.0.1"')
    WaitFor 'two rules' { @(Rules).Count -ge 2 }
    $run.WaitForExit()
    WaitFor 'no rule' { @(Rules).Count -eq 0 }
  }
  Check 'routes to a host and a network come once, can be seen and go' {
    foreach ($prefix in '203.0.113.77/32', '203.0.113.64/29') {
      foreach ($time in 1, 2) { Client route add --addresses $prefix }
      if (@(Get-NetRoute -DestinationPrefix $prefix).Count -ne 1) { throw "$prefix is not there once" }
      Client route rm --addresses $prefix
      if (@(Get-NetRoute -DestinationPrefix $prefix -ErrorAction SilentlyContinue).Count -ne 0) { throw "$prefix is still there" }
    }
    $true
  }
  if (Get-Command Get-HnsNetwork -ErrorAction SilentlyContinue) {
    foreach ($network in Get-HnsNetwork) {
      Check "HNS knows $($network.Name)" { ((Client hns get-network --name $network.Name) -join "`n") -match $network.ID }
    }
  }
  Check 'junctions, subst drives, short names and device paths are refused, listed or not' {
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
      Refused $lent 'what it opens is'
      # Where the volume has no short names, the spelling alone is tried.
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
  Check 'a killed service takes its tree with it and comes back' {
    $run = Start-Process $exe -PassThru -WindowStyle Hidden -ArgumentList @('cli', 'prc', 'run', '--path', "`"$ping`"", '--args', '"-n 600 127.0.0.1"')
    WaitFor 'the program' { Get-Process rancher-wins-ping -ErrorAction SilentlyContinue }
    $old = ServicePid
    Stop-Process -Id $old -Force
    WaitFor 'the end of the tree' { -not (Get-Process rancher-wins-ping -ErrorAction SilentlyContinue) }
    WaitFor 'the service' { $new = ServicePid; $new -ne 0 -and $new -ne $old }
    $run.WaitForExit()
  }
  Check 'an upgrade from outside replaces the program of the service' {
    & $Next up --wins-args '--debug'
    if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
    Upgraded $Next
  }
  Check 'an operator goes back, with other arguments' {
    & $Wins up --allow-downgrade --wins-args '--debug=false'
    if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
    Upgraded $Wins
  }
  Check 'nobody changes the registration through the daemon' {
    $before = ServiceCommand
    Copy-Item $Next $helper -Force
    & $exe cli prc run --path $helper '--' up --json --wins-args "--config `"$config`" --quiet" | Out-Null
    $LASTEXITCODE -eq 65 -and (ServiceCommand) -eq $before
  }
  Check 'an upgrade through the daemon outlives it' {
    Client prc run --path $helper '--' up --json | Out-Null
    WaitFor 'its result' { (Get-Content "$exe.upgrade\result.json" -Raw | ConvertFrom-Json).to.sha256 -eq (Get-FileHash $Next).Hash }
    Upgraded $Next
  }
  Check 'wins cli upgrade says that it is done' {
    & $Wins up --allow-downgrade
    Upgraded $Wins
    Client upgrade --path $helper
    Upgraded $Next
  }
  Check 'nobody else may use the folder of upgrades' {
    $rules = @((Get-Acl "$exe.upgrade").GetAccessRules($true, $true, [Security.Principal.SecurityIdentifier]))
    $rules.Count -gt 0 -and @($rules | Where-Object { $_.IdentityReference.Value -notin 'S-1-5-18', 'S-1-5-32-544' }).Count -eq 0
  }
  Check 'events can be read' {
    $events = Get-WinEvent -FilterHashtable @{ LogName = 'Application'; ProviderName = $service; StartTime = $begun } -MaxEvents 5
    if ($events.Message -match 'description for Event ID') { throw 'their texts are missing' }
  }
  Check 'a wrong config ends in an event of the service control manager, and not in a hang' {
    Stop-Service $service
    [IO.File]::WriteAllText($config, 'white_list: [')
    try { Start-Service $service; throw 'it started' } catch { if ($_.Exception.Message -eq 'it started') { throw } }
    @(Get-WinEvent -FilterHashtable @{ LogName = 'System'; ProviderName = 'Service Control Manager'; Id = 7024; StartTime = $begun } -MaxEvents 1).Count -eq 1
  }
} finally {
  & $exe srv app run --unregister
  Remove-Item -Recurse -Force $folder -ErrorAction SilentlyContinue
}
# An installation: what Wine does not keep (owners, protected lists, dependencies), and how long a start may take.
$environment = 'HKLM:\SYSTEM\CurrentControlSet\Control\Session Manager\Environment'
function MachinePath { (Get-Item $environment).GetValue('Path', '', 'DoNotExpandEnvironmentNames') }
function Roots { @(Get-ChildItem Cert:\LocalMachine\Root).Thumbprint }
$pathBefore = MachinePath
$kindBefore = (Get-Item $environment).GetValueKind('Path')
$rootsBefore = Roots
try {
  Check 'wins install --dry-run changes nothing' {
    & $Wins install --dry-run
    if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
    (MachinePath) -eq $pathBefore -and -not (Get-Service $service -ErrorAction SilentlyContinue)
  }
  Check 'wins install: the service answers the service control manager in time (no error 1053)' {
    & $Wins install
    if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
    @(Get-WinEvent -FilterHashtable @{ LogName = 'System'; ProviderName = 'Service Control Manager'; Id = 7000, 7009; StartTime = $begun } -ErrorAction SilentlyContinue).Count -eq 0
  }
  Check 'administrators own config and folders, nobody else may use them, and nothing is inherited' {
    foreach ($place in 'C:\etc\rancher\wins', 'C:\etc\rancher\wins\config', 'C:\var\lib\rancher\agent') {
      $acl = Get-Acl $place
      if (-not $acl.AreAccessRulesProtected) { throw "$place inherits" }
      if ($acl.GetOwner([Security.Principal.SecurityIdentifier]).Value -ne 'S-1-5-32-544') { throw "$place is owned by $($acl.Owner)" }
      $others = @($acl.GetAccessRules($true, $true, [Security.Principal.SecurityIdentifier]) | Where-Object { $_.IdentityReference.Value -notin 'S-1-5-18', 'S-1-5-32-544' })
      if ($others.Count -gt 0) { throw "$place is open to $($others.IdentityReference.Value -join ', ')" }
    }
  }
  Check 'the PATH of the machine keeps its type, and has each folder once' {
    & $Wins install
    if ((Get-Item $environment).GetValueKind('Path') -ne $kindBefore) { throw 'it has another type' }
    @((MachinePath) -split ';' | Where-Object { $_ -eq 'C:\usr\local\bin' }).Count -eq 1
  }
  Check 'wins suc sets the dependency of rke2, and takes it away' {
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
  Check 'wins suc restarts a daemon that a running rke2 depends on, and links it again, also when it was killed' {
    # Any program that a service can be: another daemon is one.
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
  if ($Server) {
    Check 'the node joins, and leaves the root store alone unless it is asked' {
      & $Wins join --server $Server --token-file $TokenFile --ca-checksum $CaChecksum --worker
      if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
      if (Compare-Object $rootsBefore (Roots)) { throw 'the root store has changed' }
      & $Wins join --server $Server --token-file $TokenFile --ca-checksum $CaChecksum --worker --trust-machine
      $LASTEXITCODE -eq 0
    }
  }
  if ($env:CONTAINER_SANDBOX_MOUNT_POINT) {
    Check 'a HostProcess container finds the program of its image by its name' { & wins-suc.exe suc --dry-run; $LASTEXITCODE -eq 0 }
  }
} finally {
  Check 'wins uninstall leaves the machine as it was' {
    & $Wins uninstall
    if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
    if (Compare-Object $rootsBefore (Roots)) { throw 'the root store has changed' }
    if (Test-Path 'C:\etc\rancher\wins') { throw 'the folder of the config is still there' }
    (MachinePath) -eq $pathBefore -and -not (Get-Service $service -ErrorAction SilentlyContinue)
  }
}
# The scripts that Rancher serves, as they lie beside the program of `npm run package`; nothing but a real node runs them.
$installer = Join-Path (Split-Path $Wins) 'wins-agent-install.ps1'
if (Test-Path $installer) {
  $powershell = Join-Path $system 'WindowsPowerShell\v1.0\powershell.exe'
  # With lines behind it as Rancher appends them: another exit code says that a variable was left behind.
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
  $alone = @{ CATTLE_REMOTE_ENABLED = 'false'; CATTLE_LOCAL_ENABLED = 'true'; CATTLE_AGENT_BINARY_LOCAL = 'true'; CATTLE_AGENT_BINARY_LOCAL_LOCATION = $Wins }
  $digest = @{ CATTLE_AGENT_BINARY_CHECKSUM = (Get-FileHash $Wins).Hash }
  try {
    Check 'wins-agent-install.ps1 runs no program with another digest, and asks no address with a user or a quote in it' {
      if ((Installed ($alone + @{ CATTLE_AGENT_BINARY_CHECKSUM = '0' * 64 })) -ne 1) { throw 'another digest was taken' }
      foreach ($url in 'http://127.0.0.1/wins.exe', 'https://user:x@127.0.0.1/wins.exe', "https://127.0.0.1/`"`noutput = `"C:\x") {
        if ((Installed ($digest + @{ CATTLE_AGENT_BINARY_URL = $url })) -ne 1) { throw "it took $url" }
      }
      -not (Get-Service $service -ErrorAction SilentlyContinue)
    }
    Check 'wins-agent-install.ps1 installs, and leaves the session of its user as it was' {
      $code = Installed ($alone + $digest)
      if ($code -ne 0) { throw "it ended with $code" }
      (Get-Service $service).Status -eq 'Running'
    }
  } finally {
    Check 'wins-agent-uninstall.ps1 takes all of it away' {
      & $powershell -NoProfile -ExecutionPolicy Bypass -File (Join-Path (Split-Path $Wins) 'wins-agent-uninstall.ps1') | Out-Host
      if ($LASTEXITCODE -ne 0) { throw "it ended with $LASTEXITCODE" }
      (MachinePath) -eq $pathBefore -and -not (Get-Service $service -ErrorAction SilentlyContinue)
    }
  }
}
Write-Host "$failed failed"
exit $failed
