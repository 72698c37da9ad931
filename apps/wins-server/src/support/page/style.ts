/** Style of the page. Its digest is in the page's Content-Security-Policy, so that no other style has an effect. */
export const STYLE = `
:root{color-scheme:light dark;--paper:#fff;--card:#f5f6f8;--ink:#1b1d21;--soft:#545b66;--line:#ccd1d9;--red:#a3150f;--red-card:#fdecea;--amber:#7a4a00;--amber-card:#fff4dc;--green:#17632b;--green-card:#e6f5e9;--blue:#1f5fae;--faint:#dfe4ec}
@media(prefers-color-scheme:dark){:root{--paper:#14161a;--card:#1e2127;--ink:#e9ebef;--soft:#a9b1bd;--line:#3c424d;--red:#ff9d94;--red-card:#3a1a18;--amber:#ffc966;--amber-card:#352807;--green:#86d99a;--green-card:#14301c;--blue:#7fb4f5;--faint:#2b303a}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.45 system-ui,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
main,header,footer{max-width:64rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.25rem}
h1{font-size:1.15rem;margin:0;font-weight:600}
h2{font-size:1.15rem;margin:2.25rem 0 .5rem;padding-top:.75rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.25rem 0 .25rem}
p{margin:.25rem 0}
time{overflow-wrap:normal}
code,.text{font-family:ui-monospace,Consolas,"DejaVu Sans Mono",monospace;font-size:.9em}
.soft,.more,footer{color:var(--soft)}
.more{font-weight:400}
.verdict{margin:.75rem 0 .5rem;padding:.75rem 1rem;border-radius:.5rem;border-left:.5rem solid;font-size:1.6rem;font-weight:700;line-height:1.2}
.problem{--tone:var(--red);--tint:var(--red-card)}
.warning{--tone:var(--amber);--tint:var(--amber-card)}
.ok{--tone:var(--green);--tint:var(--green-card)}
.verdict,.condition{background:var(--tint);border-color:var(--tone)}
.verdict,.badge{color:var(--tone)}
.badge{font-size:.8rem;font-weight:700;letter-spacing:.04em;text-transform:uppercase;border:1.5px solid;border-radius:.3rem;padding:.05rem .4rem;white-space:nowrap}
.list{list-style:none;padding:0;margin:0}
.condition{margin:.6rem 0;padding:.6rem .9rem;border-left:.3rem solid;border-color:var(--tone);border-radius:.4rem}
.next{font-weight:600}
dl{margin:0;display:grid;grid-template-columns:minmax(6rem,11rem) 1fr;gap:.2rem 1rem}
dt{color:var(--soft)}
dd{margin:0}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);font-weight:400}
thead th{color:var(--soft);font-size:.82rem}
.number{text-align:right;white-space:nowrap}
details{margin:.25rem 0 .5rem}
summary{cursor:pointer;color:var(--soft);padding:.2rem 0}
figure{margin:1rem 0 1.25rem}
figcaption{margin-bottom:.25rem}
svg{display:block;width:100%;overflow:visible}
.shapes{position:absolute;width:0;height:0}
svg text{font-size:11px;fill:var(--soft)}
.grid,.base{stroke:var(--line)}
.grid{stroke-dasharray:3 3}
.times line{stroke:var(--soft)}
.times .here{font-style:italic}
.bar{fill:var(--blue)}
.run{padding:.6rem 0;border-bottom:1px solid var(--line)}
.run h3{margin:0}
.life{fill:var(--blue)}
.unsure{fill:url(#unsure);stroke:var(--soft)}
.hatch{stroke:var(--soft);stroke-width:2}
.start{fill:var(--ink)}
.bad{stroke:var(--red);stroke-width:2.5;fill:none}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;padding:0;margin:.25rem 0 .75rem;font-size:.9rem;color:var(--soft)}
.legend svg{display:inline-block;width:22px;vertical-align:-3px;margin-right:.35rem}
.all{fill:var(--faint)}
.usual{fill:var(--blue)}
.high{fill:var(--red)}
.share{border-radius:.2rem;overflow:hidden}
.shares>li{margin:.5rem 0}
footer{margin-top:2.5rem;padding-bottom:2rem;font-size:.9rem}
@media(min-width:48rem){.run{display:grid;grid-template-columns:minmax(14rem,22rem) 1fr;gap:0 1.5rem}.run>details{grid-column:1/-1}.axis{display:grid;grid-template-columns:minmax(14rem,22rem) 1fr;gap:0 1.5rem}.axis>:last-child{grid-column:2}.shares{display:grid;grid-template-columns:1fr 1fr;gap:0 2rem}}
@media(max-width:30rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}body{font-size:15px}}
@media print{.condition,.run,figure{break-inside:avoid}}
`;
