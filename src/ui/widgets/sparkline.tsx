const [WIDTH, HEIGHT] = [80, 16];

/** Numbers over time as small bars. `label` says it in words, with the figures that matter. */
export function Sparkline({ values, label }: {
  readonly values: readonly number[];
  readonly label: string;
}) {
  const max = Math.max(1, ...values);
  const width = WIDTH / Math.max(1, values.length);
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      {values.map((value, at) => {
        const height = value === 0 ? 0.5 : Math.max(1, (value / max) * HEIGHT);
        const bar = { x: at * width, y: HEIGHT - height, height, width: Math.max(0.5, width - 1) };
        return <rect key={at} {...bar} />;
      })}
    </svg>
  );
}
