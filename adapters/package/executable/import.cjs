"use strict";
/** Imports a module, which the first script of an executable cannot do itself. */
module.exports = (url) => import(url);
