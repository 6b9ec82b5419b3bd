export interface Bar {
  /** What it stands for, such as a time. */
  readonly label: string;
  readonly value: number;
  /** How much of the value is bad, such as failures. */
  readonly failed?: number;
}

export interface BarsProps {
  readonly title: string;
  readonly bars: readonly Bar[];
  /** What is counted, for the table. */
  readonly unit: string;
  /** What the labels are, for the table. */
  readonly axis: string;
}

/** The height of the tallest bar, and the width of each, in units of the drawing. */
const [HEIGHT, WIDTH] = [100, 10];

/** Bars over time or over classes. What is drawn is a table, too. */
export function Bars({ title, bars, unit, axis }: BarsProps) {
  const max = Math.max(1, ...bars.map(({ value }) => value));
  const total = bars.reduce((sum, { value }) => sum + value, 0);
  return (
    <figure class="bars">
      <figcaption>{title}</figcaption>
      <svg
        viewBox={`0 0 ${bars.length * WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${total} ${unit}, at most ${max} each. The table below has all.`}
      >
        {bars.map((bar, at) => <One key={bar.label} {...{ bar, at, max }} />)}
      </svg>
      <div class="ends" aria-hidden="true">
        <span>{bars[0]?.label}</span>
        <span>at most {max}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
      <Twin {...{ title, bars, unit, axis }} />
    </figure>
  );
}

function One({ bar, at, max }: {
  readonly bar: Bar;
  readonly at: number;
  readonly max: number;
}) {
  const { label, value, failed = 0 } = bar;
  if (value === 0) return null;
  const height = Math.max(2, (value / max) * HEIGHT);
  const bad = (failed / value) * height;
  const place = { x: at * WIDTH + 0.5, width: WIDTH - 1 };
  return (
    <g>
      <title>{`${label}: ${value}${failed > 0 ? `, ${failed} failed` : ""}`}</title>
      <rect {...place} y={HEIGHT - height} height={height} />
      {bad > 0 && <rect {...place} class="failed" y={HEIGHT - bad} height={bad} />}
    </g>
  );
}

function Twin({ title, bars, unit, axis }: BarsProps) {
  const hasFailed = bars.some(({ failed }) => failed !== undefined);
  return (
    <details>
      <summary>{title} as a table</summary>
      <table class="twin">
        <thead>
          <tr>
            <th scope="col">{axis}</th>
            <th scope="col">{unit}</th>
            {hasFailed && <th scope="col">of them failed</th>}
          </tr>
        </thead>
        <tbody>
          {bars.filter(({ value }) => value > 0).map(({ label, value, failed }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{value}</td>
              {hasFailed && <td>{failed ?? 0}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
