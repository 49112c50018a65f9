// SPDX-License-Identifier: Apache-2.0
// Draws what the page's JSON holds, in the order of its canvases. Intervals are whiskers of our own on
// Chart.js's bars and points. Nothing here makes HTML of a text: labels reach a canvas only.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink").trim();
  const line = style.getPropertyValue("--line").trim();
  const colours = ["#2f6fde", "#d9822b", "#2a9d6a", "#9a5bd0"];
  Chart.defaults.color = ink;
  Chart.defaults.borderColor = line;
  Chart.defaults.font.family = "system-ui, sans-serif";
  Chart.defaults.animation = false;

  const whiskers = {
    id: "whiskers",
    afterDatasetsDraw(chart) {
      const context = chart.ctx;
      const lying = chart.options.indexAxis === "y";
      const scale = lying ? chart.scales.x : chart.scales.y;
      context.save();
      context.strokeStyle = ink;
      context.lineWidth = 1.25;
      chart.data.datasets.forEach((dataset, number) => {
        if (!chart.isDatasetVisible(number)) return;
        chart.getDatasetMeta(number).data.forEach((element, index) => {
          const low = dataset.low[index], high = dataset.high[index];
          if (low === null || high === null || dataset.data[index] === null) return;
          const from = scale.getPixelForValue(low), to = scale.getPixelForValue(high);
          const middle = lying ? element.y : element.x;
          const stroke = (a, b, c, d) => { context.moveTo(...(lying ? [a, b] : [b, a])); context.lineTo(...(lying ? [c, d] : [d, c])); };
          context.beginPath();
          stroke(from, middle, to, middle);
          stroke(from, middle - 3, from, middle + 3);
          stroke(to, middle - 3, to, middle + 3);
          context.stroke();
        });
      });
      context.restore();
    },
  };
  const baseline = {
    id: "baseline",
    beforeDatasetsDraw(chart) {
      const base = chart.options.kagentBase;
      if (!base) return;
      const lying = chart.options.indexAxis === "y";
      const at = (lying ? chart.scales.x : chart.scales.y).getPixelForValue(base);
      const area = chart.chartArea;
      chart.ctx.save();
      chart.ctx.strokeStyle = ink;
      chart.ctx.setLineDash([4, 3]);
      chart.ctx.beginPath();
      if (lying) { chart.ctx.moveTo(at, area.top); chart.ctx.lineTo(at, area.bottom); }
      else { chart.ctx.moveTo(area.left, at); chart.ctx.lineTo(area.right, at); }
      chart.ctx.stroke();
      chart.ctx.restore();
    },
  };

  // 1, 2 and 5 times a power of ten: more of a logarithmic axis runs into one another.
  const isRound = (value) => [1, 2, 5].includes(Number((value / 10 ** Math.floor(Math.log10(value) + 1e-9)).toPrecision(6)));
  const shown = (value) => (value === null ? "" : Number(value.toPrecision(4)).toString());
  document.querySelectorAll(".chart").forEach((place, index) => {
    const made = charts[index];
    place.style.height = place.dataset.height + "px";
    const lying = made.kind === "bars";
    // An axis covers the whiskers too, which Chart.js does not know of.
    const all = made.series.flatMap((series) => [...series.values, ...series.low, ...series.high]).filter((value) => value !== null);
    const whole = all.every(Number.isInteger);
    const crowded = made.logarithmic && Math.max(1, ...all) / Math.min(1, ...all) > 3;
    const values = {
      min: made.logarithmic ? Math.min(1, ...all) * 0.9 : undefined,
      max: made.logarithmic ? Math.max(1, ...all) * 1.1 : undefined,
      suggestedMax: Math.max(...all, made.base),
      type: made.logarithmic ? "logarithmic" : "linear",
      title: { display: made.unit !== "", text: made.unit },
      ticks: { callback: (value) => (crowded && !isRound(value) ? "" : shown(value)), autoSkip: true, maxTicksLimit: 12, ...(whole ? { precision: 0 } : {}) },
    };
    const names = { ticks: { autoSkip: !lying, maxRotation: 60 }, grid: { display: false } };
    new Chart(place.querySelector("canvas"), {
      type: made.kind === "line" ? "line" : "bar",
      data: {
        labels: made.labels,
        datasets: made.series.map((series, number) => ({
          label: series.name, data: series.values, low: series.low, high: series.high,
          base: made.base || undefined, backgroundColor: colours[number % colours.length],
          borderColor: colours[number % colours.length], borderWidth: made.kind === "line" ? 2 : 0, pointRadius: number < 2 ? 4 : 0,
          borderDash: number < 2 ? [] : [6, 4],
        })),
      },
      options: {
        responsive: true, maintainAspectRatio: false, indexAxis: lying ? "y" : "x", kagentBase: made.base,
        scales: lying ? { x: values, y: names } : { x: names, y: values },
        plugins: {
          legend: { display: made.series.length > 1 },
          tooltip: { callbacks: { label: (item) => {
            const low = item.dataset.low[item.dataIndex], high = item.dataset.high[item.dataIndex];
            const interval = low === null || high === null ? "" : ` [${shown(low)}, ${shown(high)}]`;
            return `${item.dataset.label}: ${shown(item.raw)}${interval}`;
          } } },
        },
      },
      plugins: [whiskers, baseline],
    });
  });
})();
