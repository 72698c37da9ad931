<#
.SYNOPSIS
  Downloads wins.exe, checks its SHA-256 digest, and runs it to join this node to a cluster: docs/install.md.
.DESCRIPTION
  Only defines Invoke-WinsInstaller; Rancher appends the lines that call it. Secrets reach wins.exe only through its environment.
#>
param(
    [string]$Address, [string]$CaChecksum, [string]$InternalAddress, [string[]]$Label, [string]$NodeName, [string]$Server,
    [string[]]$Taint, [string]$Token, [switch]$Worker, [switch]$DelayedStart, [switch]$StrictTlsVerification
)

function Invoke-WinsInstaller {
    [CmdletBinding()]
    param(
        [string]$Address, [string]$CaChecksum, [string]$InternalAddress, [string[]]$Label, [string]$NodeName, [string]$Server,
        [string[]]$Taint, [string]$Token, [switch]$Worker, [switch]$DelayedStart, [switch]$StrictTlsVerification
    )
    $ErrorActionPreference = 'Stop'
    # Digest of the wins.exe of the same release; the packager sets it.
    $releasedChecksum = ''
    # Previous values of variables that the script changes, to restore them at the end.
    $before = @{}
    function Set-Value([string]$Name, [string]$Value) {
        if ($Value) { $before[$Name] = [Environment]::GetEnvironmentVariable($Name); [Environment]::SetEnvironmentVariable($Name, $Value) }
    }
    function Add-Values([string]$Name, [string[]]$Values) {
        if ($Values) { Set-Value $Name ((@([Environment]::GetEnvironmentVariable($Name)) + $Values | Where-Object { $_ }) -join ',') }
    }
    $exitCode = 1
    $folder = $null
    try {
        Set-Value 'CATTLE_ADDRESS' $Address
        Set-Value 'CATTLE_CA_CHECKSUM' $CaChecksum
        Set-Value 'CATTLE_INTERNAL_ADDRESS' $InternalAddress
        Set-Value 'CATTLE_NODE_NAME' $NodeName
        Set-Value 'CATTLE_SERVER' $Server
        Set-Value 'CATTLE_TOKEN' $Token
        Add-Values 'CATTLE_LABELS' $Label
        Add-Values 'CATTLE_TAINTS' $Taint
        if ($Worker) { Set-Value 'CATTLE_ROLE_WORKER' 'true' }
        if ($DelayedStart) { Set-Value 'CATTLE_ENABLE_WINS_DELAYED_START' 'true' }
        if ($StrictTlsVerification) { Set-Value 'STRICT_VERIFY' 'true' }

        $wanted = if ($env:CATTLE_AGENT_BINARY_CHECKSUM) { $env:CATTLE_AGENT_BINARY_CHECKSUM } else { $releasedChecksum }
        if ($wanted -notmatch '^[0-9A-Fa-f]{64}$') { throw "cannot download wins.exe: its SHA-256 digest is unknown; set it in CATTLE_AGENT_BINARY_CHECKSUM" }
        # Creates the folder together with its access list, so that only administrators and SYSTEM ever have access.
        $access = New-Object Security.AccessControl.DirectorySecurity
        $access.SetSecurityDescriptorSddlForm('O:BAG:SYD:PAI(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)')
        $folder = Join-Path $env:SystemRoot ('Temp\wins-' + [Guid]::NewGuid())
        if ($PSVersionTable.PSEdition -eq 'Core') { [void][IO.FileSystemAclExtensions]::CreateDirectory($access, $folder) }
        else { [void][IO.Directory]::CreateDirectory($folder, $access) }
        $wins = Join-Path $folder 'wins.exe'
        if ($env:CATTLE_AGENT_BINARY_LOCAL -eq 'true') { Copy-Item -LiteralPath $env:CATTLE_AGENT_BINARY_LOCAL_LOCATION -Destination $wins }
        else {
            $base = if ($env:CATTLE_AGENT_BINARY_BASE_URL) { $env:CATTLE_AGENT_BINARY_BASE_URL } else { "$($env:CATTLE_SERVER)/assets" }
            $url = if ($env:CATTLE_AGENT_BINARY_URL) { $env:CATTLE_AGENT_BINARY_URL } else { "$($base.TrimEnd('/'))/wins.exe" }
            if ($url -notmatch '\Ahttps://(?![^/?#]*@)[!#-\[\]-~]+\z') { throw 'cannot download wins.exe: its address must begin with https:// and contain no user, quotes or blanks' }
            # --insecure admits servers with a private authority. This is safe, because the digest decides and no secret is sent; wins.exe verifies the server.
            # -q comes first, so that curl reads no config of the user. The address is in a file, because a signed address is secret and arguments are not.
            $options = '-q', '-fsSL', '--globoff', '--insecure', '--proto', '=https', '--max-redirs', '5', '--retry', '5', '--connect-timeout', '30', '--max-time', '600', '--max-filesize', '268435456'
            $asked = Join-Path $folder 'asked'
            [IO.File]::WriteAllText($asked, "url = ""$url""")
            & "$env:SystemRoot\System32\curl.exe" @options -o $wins --config $asked
            if ($LASTEXITCODE -ne 0) { throw "cannot download $($url -replace '[?#].*\z'): curl.exe ended with exit code $LASTEXITCODE" }
        }
        $found = (Get-FileHash -LiteralPath $wins -Algorithm SHA256).Hash
        if ($found -ne $wanted) { throw "cannot use wins.exe: found the SHA-256 digest $found; wanted $wanted" }
        & $wins join
        $exitCode = $LASTEXITCODE
    }
    catch { [Console]::Error.WriteLine("wins-agent-install: $_") }
    finally {
        foreach ($name in $before.Keys) { [Environment]::SetEnvironmentVariable($name, $before[$name]) }
        if ($folder) { Remove-Item -LiteralPath $folder -Recurse -Force -ErrorAction SilentlyContinue }
    }
    # On success, the lines that Rancher appends end the script with 0.
    if ($exitCode -ne 0) { exit $exitCode }
}
