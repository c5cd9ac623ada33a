// Charts, where a trend is the answer.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";

import "uplot/dist/uPlot.min.css";

const HEIGHT = 120;

/** Draw the health over time: labelled at its end, no legend. */
export function HealthChart({ states }: { states: { at: string; health: number }[] }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) {
      return undefined;
    }
    const style = getComputedStyle(document.documentElement);
    const color = (name: string): string => style.getPropertyValue(name).trim();
    const axis = { stroke: color("--quiet"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    const options: uPlot.Options = {
      width: element.clientWidth || 600,
      height: HEIGHT,
      cursor: { show: false },
      legend: { show: false },
      scales: { y: { range: [0, 100] } },
      axes: [{ ...axis, grid: { show: false }, space: 90, size: 24, values: (_, marks) => marks.map((mark) => new Date(mark * 1000).toISOString().slice(0, 10)) }, { ...axis, size: 36, splits: () => [0, 50, 100] }],
      series: [{}, { stroke: color("--accent"), width: 1.5, points: { show: states.length < 40, size: 4 } }],
    };
    const data: uPlot.AlignedData = [states.map((state) => Date.parse(state.at) / 1000), states.map((state) => state.health)];
    const chart = new uPlot(options, data, element);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [states]);
  const last = states.at(-1);
  const label = `Health from ${states[0]?.at.slice(0, 10) ?? ""} to ${last?.at.slice(0, 10) ?? ""}, now ${Math.round(last?.health ?? 0)} of 100`;
  return <div ref={box} class="chart" role="img" aria-label={label} />;
}

interface CurveProps {
  start: number;
  rate: number;
  hours: number;
  halfLife: number | null;
}

/** Draw what is left of a fact's importance, from its last access on, with where it stands now. */
export function DecayCurve({ start, rate, hours, halfLife }: CurveProps): JSX.Element | null {
  if (!halfLife || start <= 0) {
    return null;
  }
  const span = Math.max(hours * 1.4, halfLife * 2.5);
  const x = (at: number): number => (at / span) * 240;
  const y = (value: number): number => 44 - (value / Math.max(10, start)) * 40;
  const points = Array.from({ length: 61 }, (_, n) => (n / 60) * span);
  const line = points.map((at) => `${x(at).toFixed(1)},${y(start * rate ** at).toFixed(1)}`).join(" ");
  const value = start * rate ** hours;
  const label = `The score was ${start.toFixed(1)}, is ${value.toFixed(1)} now; agents receive the fact while it is 3 or more`;
  return (
    <svg class="curve" viewBox="-4 0 248 48" role="img" aria-label={label}>
      <line class="limit" x1="0" x2="240" y1={y(3)} y2={y(3)} />
      <polyline points={line} />
      <circle cx={x(hours)} cy={y(value)} r="3" />
    </svg>
  );
}

/** Draw counts as bars, the share of the greatest. */
export function Bar({ value, most }: { value: number; most: number }): JSX.Element {
  return (
    <span class="bar" aria-hidden="true">
      <span style={{ width: `${Math.round((100 * value) / Math.max(1, most))}%` }} />
    </span>
  );
}
