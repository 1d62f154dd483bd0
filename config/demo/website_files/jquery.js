/*! jQuery v1.12.4 - the demo only needs this line, by which scanners recognise the library */
