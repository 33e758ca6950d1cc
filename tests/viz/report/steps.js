// steps.js - a reader of the report: what is seen after each step stands in the page at the end, as JSON. See browser.sh.
//
// SPDX-License-Identifier: GPL-3.0-or-later
(function () {
  var seen = {}, table = document.getElementById('table-jobs-0'), bar = table.parentNode.nextElementSibling;
  function shown(t) {
    return Array.from(t.tBodies[0].rows).filter(function (r) { return getComputedStyle(r).display !== 'none'; });
  }
  function look(name) {
    seen[name] = {
      ids: shown(table).map(function (r) { return r.cells[0].textContent; }),
      note: bar.querySelector('span').textContent,
      enabled: Array.from(bar.querySelectorAll('button')).filter(function (b) { return !b.disabled; }).map(function (b) { return b.textContent; }),
      sort: Array.from(table.tHead.rows[0].cells).map(function (c) { return c.getAttribute('aria-sort'); }),
      found: document.querySelector('nav output').textContent,
      all_tables: Array.from(document.querySelectorAll('table.sortable')).reduce(function (n, t) { return n + t.tBodies[0].rows.length; }, 0)
    };
  }
  function press(text) {
    Array.from(bar.querySelectorAll('button')).filter(function (b) { return b.textContent === text; })[0].click();
  }
  function head(text) {
    Array.from(table.tHead.querySelectorAll('button')).filter(function (b) { return b.textContent === text; })[0].click();
  }
  function type(text) {
    var field = document.querySelector('nav input');
    field.value = text;
    field.dispatchEvent(new Event('input'));
  }
  function colours() {
    var style = getComputedStyle(document.documentElement), svg = document.querySelector('figure svg');
    seen.back = getComputedStyle(document.body).backgroundColor;
    seen.ground = getComputedStyle(svg.querySelector('path')).fill;
    seen.text = Array.from(document.querySelectorAll('figure svg text')).slice(0, 50).map(function (t) { return getComputedStyle(t).fill; });
    seen.unset = Array.from(document.querySelectorAll('figure svg [fill^="var"]')).filter(function (e) {
      return !style.getPropertyValue(e.getAttribute('fill').slice(4, -1));
    }).length;
    seen.images = ['only-light', 'only-dark'].map(function (c) {
      return Array.from(document.querySelectorAll('image.' + c)).filter(function (e) { return getComputedStyle(e).display !== 'none'; }).length;
    });
    seen.wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  }
  look('first');
  press('next');
  look('second');
  press('previous');
  press('all');
  look('all');
  head('GPUs');
  look('ascending');
  head('GPUs');
  look('descending');
  head('GPUs');
  look('as it was');
  head('to the end');
  look('end');
  head('to the end');
  look('end down');
  head('job');
  look('by id');
  press('by pages');
  look('by pages');
  type('SPEECH');
  look('search');
  type('no such text');
  look('nothing');
  type('');
  look('cleared');
  var link = bar.querySelector('a');
  document.addEventListener('click', function (e) { e.preventDefault(); }); // a download has no place in a test
  link.click();
  seen.csv = decodeURIComponent(link.href.split(',').slice(1).join(','));
  seen.file = link.download;
  seen.small = Array.from(document.querySelectorAll('table.sortable')).filter(function (t) {
    return t.tBodies[0].rows.length > 25 ? false : shown(t).length !== t.tBodies[0].rows.length;
  }).length;
  colours();
  var out = document.createElement('script');
  out.type = 'application/json';
  out.id = 'seen';
  out.textContent = JSON.stringify(seen).replace(/</g, '\\u003c');
  document.body.appendChild(out);
}());
