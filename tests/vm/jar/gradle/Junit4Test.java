package com.acme;

import org.junit.platform.runner.JUnitPlatform;
import org.junit.platform.suite.api.SelectClasses;
import org.junit.runner.RunWith;

/** What Gradle before 4.6 finds. */
@RunWith(JUnitPlatform.class)
@SelectClasses(OrdersTest.class)
public class Junit4Test {}
